/**
 * The ceilings that are not settings: what the specification or the stored form fixes. Each has a test that
 * reaches it. Ceilings an operator may move stand in `config/config.ts`.
 */

/** Bytes of UTF-8 in a user key or an instance key (native.md D-25). */
export const LONG_KEY_BYTES_MAX = 512
/** Characters (= bytes, the pattern is ASCII) in every other key (native.md D-25). */
export const SHORT_KEY_LENGTH_MAX = 128
/** Characters in a name or a description. */
export const TEXT_LENGTH_MAX = 4_096
/** Entries listed inside one group answer; the rest is paged through (native.md B.3). */
export const GROUP_READ_ENTRIES_MAX = 1_000
/**
 * Bytes of a body about one thing, and of one that brings its parts along (a resource, a role, a user with what it is to hold).
 * Where attributes may be larger than usual, so may these. Parsing takes some 15 ms a mebibyte, in which the thread decides nothing.
 */
export const PLAIN_BODY_BYTES_MAX = 262_144
export const PARTS_BODY_BYTES_MAX = 4_194_304
/** Bytes of JSON in all the attributes of a resource and its parts, in attributes of one thing (`MAX_ATTRIBUTES_BYTES`). */
export const RESOURCE_ATTRIBUTES_FACTOR = 16
/** Depth of nesting in a management body, so that what is stored can always be walked. */
export const JSON_DEPTH_MAX = 64
/** Bytes of JSON, and levels, of the attributes and the context that come with one question (conditions.md 7). */
export const SENT_ATTRIBUTES_BYTES_MAX = 65_536
export const SENT_ATTRIBUTES_DEPTH_MAX = 32
/** Actions, attributes, roles or relations that one body may give a resource. */
export const PARTS_PER_BODY_MAX = 1_000
/** Roles of a resource, relations to it, relations from it: no more than one body may give, so that all go at once. */
export const PARTS_PER_RESOURCE_MAX = PARTS_PER_BODY_MAX
/** Tenant roles: what goes with a resource may be mentioned in all of them, and all are written then. */
export const TENANT_ROLES_MAX = 10_000
/**
 * Resources of an environment, relations and roles of all of them. An index has numbers for six times as many and more, so that as
 * many as may stand can be replaced at once while those before them are collected.
 */
export const RESOURCES_MAX = 2_000
export const RELATIONS_MAX = 10_000
/** Roles of an environment, tenant roles included. */
export const ROLES_MAX = 50_000
/** Roles that a role may extend, directly and through others. */
export const EXTENDS_REACH_MAX = 100
/** Actions of a resource, no more than one body may give; and of all resources of an environment. */
export const ACTIONS_PER_RESOURCE_MAX = PARTS_PER_BODY_MAX
export const ACTIONS_MAX = 50_000
/** A role's own permissions, without those it has by `extends`; and those of all roles of an environment. */
export const PERMISSIONS_PER_ROLE_MAX = 5_000
export const PERMISSIONS_MAX = 200_000
/** Entries in the `granted_to` of all roles of an environment. */
export const DERIVATIONS_MAX = 5_000
/** Characters in the key and in the name of a condition set. */
export const CONDITION_SET_KEY_LENGTH_MAX = 255
export const CONDITION_SET_NAME_LENGTH_MAX = 255
/** Condition sets of an environment, rules of it, and rules on one action of one resource (conditions.md 11). */
export const CONDITION_SETS_MAX = 10_000
export const RULES_MAX = 100_000
export const RULES_PER_ACTION_MAX = 10_000
/** Sets above a condition set, one above the other. */
export const SET_ANCESTORS_MAX = 16
/** Numbers beyond 2^53 in one body: each takes about ten times as long to parse as another number. */
export const LONG_NUMBERS_MAX = 65_536
/** Bytes of JSON in the conditions of one set. */
export const CONDITION_BYTES_MAX = 262_144
/** Bytes of JSON in the conditions of all sets of an environment: every thread that decides may come to keep all of them, read. */
export const CONDITION_BYTES_TOTAL_MAX = 16_777_216
/** Samples on which one request tries a condition set, and bytes of JSON in which it is told what its tests say of all of them. */
export const CONDITION_SAMPLES_MAX = 50
export const TRIED_TESTS_BYTES_MAX = 1_048_576
/** Proxy configs of an environment, mapping rules of one, and of all of them. */
export const PROXY_CONFIGS_MAX = 1_000
export const MAPPING_RULES_PER_CONFIG_MAX = PARTS_PER_BODY_MAX
export const MAPPING_RULES_MAX = 10_000
/** Characters in the URL of a mapping rule, its segments (scheme and host are three) and the members of its query. */
export const MAPPING_URL_LENGTH_MAX = 2_048
export const MAPPING_SEGMENTS_MAX = 32
export const MAPPING_QUERY_MEMBERS_MAX = 16
/** Bytes of JSON in the URL and the headers of one mapping rule, and in all rules of an environment: threads that decide keep their URLs. */
export const MAPPING_RULE_BYTES_MAX = 8_192
export const MAPPING_BYTES_TOTAL_MAX = 4_194_304
/** Bytes of JSON in the secret of a proxy config. */
export const PROXY_SECRET_BYTES_MAX = 8_192
/** Characters in a URL that is asked about: as many as servers take in a request line. */
export const ASKED_URL_LENGTH_MAX = 8_192
/** Members of its query that are looked at. Common frameworks read a thousand, and leave out or refuse what is behind them. */
export const ASKED_QUERY_MEMBERS_MAX = 1_000
/** Rows one commit may write; longer work is cut into several commits. */
export const COMMIT_ROWS_MAX = 65_535
/**
 * Removed things of an environment whose dependants still await their purge, when more are to be removed: each is known to every
 * read until then. One commit alone may remove more.
 */
export const REMOVALS_PENDING_MAX = 20_000
/** How often a command starts again because another writer was faster, before the caller is told to retry. */
export const COMMIT_ATTEMPTS_MAX = 32
/** Page size when none is asked for, and the most one may ask for (native.md B.1). */
export const PAGE_SIZE_DEFAULT = 30
export const PAGE_SIZE_MAX = 100
/** The same for role assignments (native.md B.1). */
export const ASSIGNMENT_PAGE_SIZE_MAX = 1_000
/** Keys that complete a text: how many come when no number is asked for, and the most one may ask for. */
export const COMPLETIONS_DEFAULT = 20
export const COMPLETIONS_MAX = 100
/**
 * What one completion looks at, since it is read at once: rows, of which one that is larger counts once for each 1,024 bytes, and
 * resources, where none is named.
 */
export const COMPLETION_ROWS_MAX = 2_000
export const COMPLETION_RESOURCES_MAX = 500
/** Things that one request of a search by a part of their names looks at: some tenths of a second. */
export const KEY_SEARCH_ROWS_MAX = 10_000
/** Items of a list that one request looks at for the sake of filters by attributes, which no list is kept for. */
export const ATTRIBUTE_FILTER_ROWS_MAX = 1_000_000
/** Bytes of JSON in a page of more than one thing. */
export const PAGE_BYTES_MAX = 8_388_608
/** Elements in a bulk call, which is one commit. */
export const BULK_ELEMENTS_MAX = 10_000
/** Relationships listed inside one detailed instance; the list of tuples has them all. */
export const INSTANCE_RELATIONSHIPS_MAX = 1_000
/** Characters of a request's name that logs keep: callers choose it, as long as a head may be. */
export const KEPT_REQUEST_ID_LENGTH_MAX = 128
/** Bytes of JSON of a request that an entry of the audit log keeps; of a longer one it keeps what the path names. */
export const AUDIT_INPUT_BYTES_MAX = 2_048
/** Environments of an organization, those being copied included: each has an index in memory and files of its own. */
export const ENVIRONMENTS_MAX = 1_000
/** Environments that a project is created with: all of them are opened before the response. */
export const INITIAL_ENVIRONMENTS_MAX = 100
/** How long making a copy of an environment may take before others hold it to be abandoned, and remove it. */
export const COPY_MS_MAX = 600_000
export const PROJECTS_MAX = 1_000
/** API keys of an organization: every HTTP thread knows them all. */
export const API_KEYS_MAX = 10_000
/** To what the last use of a key is told. */
export const KEY_USE_GRAIN_MS = 600_000
/** Longest overlap of a rotation: 30 days. */
export const KEY_OVERLAP_SECONDS_MAX = 2_592_000
/** Patterns in one filter of a copy. */
export const COPY_PATTERNS_MAX = 1_000
/** Exports of a process at once: each holds a state of the store, and with it a reader and the pages that it needs. */
export const EXPORTS_MAX = 8
/** Imports of a process at once: each has a thread of its own and all rows in memory. */
export const IMPORTS_MAX = 3
/** Of those, of one environment. */
export const EXPORTS_PER_ENVIRONMENT_MAX = 4
export const IMPORTS_PER_ENVIRONMENT_MAX = 2
/** Depth of nesting in a line of an import, where what is a body by itself elsewhere is a part of a resource. */
export const CONTENT_DEPTH_MAX = JSON_DEPTH_MAX + 2
/** Bytes in one line of an export or import: a resource with all its parts. */
export const CONTENT_LINE_BYTES_MAX = 16_777_216
/**
 * Steps along relationships of each of the three walks of an explanation, and of all explanations of one bulk together: some
 * tens of milliseconds each.
 */
export const EXPLAIN_STEPS_MAX = 262_144
/** Tenants in which `/allowed/all-tenants` tries an action that rules may allow (conditions.md 10). */
export const TRIED_TENANTS_MAX = 10_000
/** Characters of JSON in which the reasons of an explanation are told, or of all explanations of one bulk together. */
export const EXPLAIN_LENGTH_MAX = 16_777_216

/**
 * Limits that are not settings: they are fixed by the specification or the stored form. Each has a test that
 * reaches it. Limits that an operator can change are in `config/config.ts`.
 */

/** UTF-8 bytes in a user key or an instance key (native.md D-25). */
export const LONG_KEY_BYTES_MAX = 512
/** Characters (= bytes, the pattern is ASCII) in every other key (native.md D-25). */
export const SHORT_KEY_LENGTH_MAX = 128
/** Characters in a name or a description. */
export const TEXT_LENGTH_MAX = 4_096
/** Entries in one group response; the rest is available in pages (native.md B.3). */
export const GROUP_READ_ENTRIES_MAX = 1_000
/**
 * Bytes of a body about one entity, and of a body that includes parts (a resource, a role, a user with
 * assignments). They grow if larger attributes are allowed. Parsing takes about 15 ms per MiB, during which
 * the thread makes no decisions.
 */
export const PLAIN_BODY_BYTES_MAX = 262_144
export const PARTS_BODY_BYTES_MAX = 4_194_304
/**
 * Maximum size of all attributes of a resource type and its parts, as a multiple of `MAX_ATTRIBUTES_BYTES`.
 */
export const RESOURCE_ATTRIBUTES_FACTOR = 16
/** Nesting depth of a management body, so that stored values can always be traversed recursively. */
export const JSON_DEPTH_MAX = 64
/** Bytes of JSON, and nesting depth, of the attributes and context in one check (conditions.md 7). */
export const SENT_ATTRIBUTES_BYTES_MAX = 65_536
export const SENT_ATTRIBUTES_DEPTH_MAX = 32
/** Actions, attributes, roles or relations of a resource type in one body. */
export const PARTS_PER_BODY_MAX = 1_000
/**
 * Roles of a resource type, relations to it, relations from it: at most as many as in one body, so that one
 * commit can remove all.
 */
export const PARTS_PER_RESOURCE_MAX = PARTS_PER_BODY_MAX
/** Tenant roles: when a resource type is removed, all of them may reference it and must be written. */
export const TENANT_ROLES_MAX = 10_000
/**
 * Resource types, relations and roles of an environment. An index can hold more than six times as many, so
 * that all of them can be replaced at the same time while the old ones are garbage-collected.
 */
export const RESOURCES_MAX = 2_000
export const RELATIONS_MAX = 10_000
/** Roles of an environment, including tenant roles. */
export const ROLES_MAX = 50_000
/** Roles that a role can extend, directly and through others. */
export const EXTENDS_REACH_MAX = 100
/**
 * Actions of a resource type, at most as many as in one body; and of all resource types of an environment.
 */
export const ACTIONS_PER_RESOURCE_MAX = PARTS_PER_BODY_MAX
export const ACTIONS_MAX = 50_000
/** Permissions of a role, without those of the roles that it extends; and of all roles of an environment. */
export const PERMISSIONS_PER_ROLE_MAX = 5_000
export const PERMISSIONS_MAX = 200_000
/** Entries in the `granted_to` of all roles of an environment. */
export const DERIVATIONS_MAX = 5_000
/** Characters in the key and in the name of a condition set. */
export const CONDITION_SET_KEY_LENGTH_MAX = 255
export const CONDITION_SET_NAME_LENGTH_MAX = 255
/**
 * Condition sets of an environment, its rules, and rules on one action of one resource type (conditions.md
 * 11).
 */
export const CONDITION_SETS_MAX = 10_000
export const RULES_MAX = 100_000
export const RULES_PER_ACTION_MAX = 10_000
/** Ancestors of a condition set. */
export const SET_ANCESTORS_MAX = 16
/** Numbers beyond 2^53 in one body: each takes about ten times as long to parse as another number. */
export const LONG_NUMBERS_MAX = 65_536
/** Bytes of JSON in the conditions of one set. */
export const CONDITION_BYTES_MAX = 262_144
/**
 * Bytes of JSON in the conditions of all sets of an environment: every decision thread may cache all parsed
 * conditions.
 */
export const CONDITION_BYTES_TOTAL_MAX = 16_777_216
/**
 * Samples in one trial of a condition set, and bytes of JSON in which the response explains the tests of all
 * samples.
 */
export const CONDITION_SAMPLES_MAX = 50
export const TRIED_TESTS_BYTES_MAX = 1_048_576
/** Proxy configs of an environment, mapping rules of one, and of all of them. */
export const PROXY_CONFIGS_MAX = 1_000
export const MAPPING_RULES_PER_CONFIG_MAX = PARTS_PER_BODY_MAX
export const MAPPING_RULES_MAX = 10_000
/**
 * Characters in the URL of a mapping rule, its segments (scheme and host count as three) and the members of
 * its query.
 */
export const MAPPING_URL_LENGTH_MAX = 2_048
export const MAPPING_SEGMENTS_MAX = 32
export const MAPPING_QUERY_MEMBERS_MAX = 16
/**
 * Bytes of JSON in the URL and headers of one mapping rule, and in all rules of an environment: decision
 * threads keep their URLs in memory.
 */
export const MAPPING_RULE_BYTES_MAX = 8_192
export const MAPPING_BYTES_TOTAL_MAX = 4_194_304
/** Bytes of JSON in the secret of a proxy config. */
export const PROXY_SECRET_BYTES_MAX = 8_192
/** Characters in a URL that is checked: as many as servers accept in a request line. */
export const ASKED_URL_LENGTH_MAX = 8_192
/**
 * Members of its query that are examined. Common frameworks read a thousand, and ignore or reject further
 * ones.
 */
export const ASKED_QUERY_MEMBERS_MAX = 1_000
/** Rows that one commit can write; longer work is split into several commits. */
export const COMMIT_ROWS_MAX = 65_535
/**
 * Removed entities of an environment that wait for their purge when another removal begins: every read knows
 * each of them until then. A single commit can remove more.
 */
export const REMOVALS_PENDING_MAX = 20_000
/** Attempts of a command that conflicts with other writers, before the caller is told to retry. */
export const COMMIT_ATTEMPTS_MAX = 32
/** Default and maximum page size (native.md B.1). */
export const PAGE_SIZE_DEFAULT = 30
export const PAGE_SIZE_MAX = 100
/** Maximum page size of role assignments (native.md B.1). */
export const ASSIGNMENT_PAGE_SIZE_MAX = 1_000
/** Default and maximum number of completed keys in a response. */
export const COMPLETIONS_DEFAULT = 20
export const COMPLETIONS_MAX = 100
/**
 * Work of one key completion, which runs without a stop: rows (a row counts once per 1,024 bytes), and
 * resource types if none is named.
 */
export const COMPLETION_ROWS_MAX = 2_000
export const COMPLETION_RESOURCES_MAX = 500
/** Entities that one request of a key search examines: a few tenths of a second. */
export const KEY_SEARCH_ROWS_MAX = 10_000
/** Items of a list that one request examines for filters by attributes, for which there is no list. */
export const ATTRIBUTE_FILTER_ROWS_MAX = 1_000_000
/** Bytes of JSON in a page with more than one entity. */
export const PAGE_BYTES_MAX = 8_388_608
/** Elements of a bulk call, which is one commit. */
export const BULK_ELEMENTS_MAX = 10_000
/** Relationships in one detailed instance; the list of tuples contains all. */
export const INSTANCE_RELATIONSHIPS_MAX = 1_000
/**
 * Characters of a request id that logs keep. Callers choose the id, limited only by the size of the request
 * header.
 */
export const KEPT_REQUEST_ID_LENGTH_MAX = 128
/**
 * Bytes of JSON of a request that an audit log entry keeps; for a longer one, it keeps only the entities in
 * the path.
 */
export const AUDIT_INPUT_BYTES_MAX = 2_048
/**
 * Environments of an organization, including copies in progress: each has an index in memory and separate
 * files.
 */
export const ENVIRONMENTS_MAX = 1_000
/** Environments with which a project is created: all of them are opened before the response is sent. */
export const INITIAL_ENVIRONMENTS_MAX = 100
/** Time after which an unfinished copy of an environment counts as abandoned and is removed. */
export const COPY_MS_MAX = 600_000
export const PROJECTS_MAX = 1_000
/** API keys of an organization: every HTTP thread keeps all of them in memory. */
export const API_KEYS_MAX = 10_000
/** Precision of the last use of a key. */
export const KEY_USE_GRAIN_MS = 600_000
/** Maximum overlap of a key rotation: 30 days. */
export const KEY_OVERLAP_SECONDS_MAX = 2_592_000
/** Patterns in one filter of a copy. */
export const COPY_PATTERNS_MAX = 1_000
/** Concurrent exports of a process: each holds a snapshot of the store, with a reader and its pages. */
export const EXPORTS_MAX = 8
/** Concurrent imports of a process: each has a separate thread and all rows in memory. */
export const IMPORTS_MAX = 3
/** Concurrent exports and imports of one environment. */
export const EXPORTS_PER_ENVIRONMENT_MAX = 4
export const IMPORTS_PER_ENVIRONMENT_MAX = 2
/** Nesting depth of an import line: bodies of other requests are parts of a resource there. */
export const CONTENT_DEPTH_MAX = JSON_DEPTH_MAX + 2
/** Bytes in one line of an export or import: a resource type with all its parts. */
export const CONTENT_LINE_BYTES_MAX = 16_777_216
/**
 * Steps along relationships in each of the three traversals of an explanation, and of all explanations of one
 * bulk together: some tens of milliseconds each.
 */
export const EXPLAIN_STEPS_MAX = 262_144
/** Tenants in which `/allowed/all-tenants` checks an action that rules may allow (conditions.md 10). */
export const TRIED_TENANTS_MAX = 10_000
/** Characters of JSON in the reasons of an explanation, or of all explanations of one bulk together. */
export const EXPLAIN_LENGTH_MAX = 16_777_216

/**
 * Limits that are not settings, because the specification or the stored form determines them. Each limit has
 * a test that reaches it. The limits of the form of conditions are in `conditions/read-condition.ts`, and
 * those of their evaluation in `conditions/values/evaluation-budget.ts`. The limits that an operator can
 * change are in `config/settings.ts`.
 */

/** Maximum number of UTF-8 bytes in a user key or instance key (native.md D-25). */
export const LONG_KEY_BYTES_MAX = 512
/**
 * Maximum number of characters in every other key (native.md D-25). Characters are bytes, because these keys
 * are ASCII.
 */
export const SHORT_KEY_LENGTH_MAX = 128
/** Maximum number of characters in a name or a description. */
export const TEXT_LENGTH_MAX = 4_096
/**
 * Maximum number of entries in a response about one group. The other entries are available in pages
 * (native.md B.3).
 */
export const GROUP_READ_ENTRIES_MAX = 1_000
/**
 * Maximum sizes of bodies in bytes: of a body about one entity, and of a body that includes parts (a
 * resource, a role, or a user with assignments). They increase if larger attributes are allowed. Parsing
 * takes about 15 ms per MiB, and the thread makes no decisions in that time.
 */
export const PLAIN_BODY_BYTES_MAX = 262_144
export const PARTS_BODY_BYTES_MAX = 4_194_304
/**
 * Maximum size of all attributes of a resource type and its parts, as a multiple of `MAX_ATTRIBUTES_BYTES`.
 */
export const RESOURCE_ATTRIBUTES_FACTOR = 16
/**
 * Maximum nesting depth of a management body. It ensures that stored values can always be traversed
 * recursively.
 */
export const JSON_DEPTH_MAX = 64
/**
 * Maximum size, in bytes of JSON, and maximum nesting depth of the attributes and context in one check
 * (conditions.md 7).
 */
export const SENT_ATTRIBUTES_BYTES_MAX = 65_536
export const SENT_ATTRIBUTES_DEPTH_MAX = 32
/** Maximum number of actions, attributes, roles or relations of a resource type in one body. */
export const PARTS_PER_BODY_MAX = 1_000
/**
 * Maximum number of roles of a resource type, of relations to it, and of relations from it. It equals the
 * limit for one body, so that one commit can remove all roles or all relations of the type.
 */
export const PARTS_PER_RESOURCE_MAX = PARTS_PER_BODY_MAX
/**
 * Maximum number of tenant roles. All tenant roles might reference the same resource type. When this type is
 * removed, one commit must write all tenant roles.
 */
export const TENANT_ROLES_MAX = 10_000
/**
 * Maximum numbers of resource types and relations in an environment. An index has capacity for more than six
 * times as many. Therefore all resource types and relations can be replaced at the same time, while the
 * replaced ones wait to be collected.
 */
export const RESOURCES_MAX = 2_000
export const RELATIONS_MAX = 10_000
/** Maximum number of roles in an environment, including tenant roles. */
export const ROLES_MAX = 50_000
/** Maximum number of roles that a role extends, directly or through other roles. */
export const EXTENDS_REACH_MAX = 100
/**
 * Maximum numbers of actions: of one resource type, which equals the limit for one body, and of all resource
 * types of an environment.
 */
export const ACTIONS_PER_RESOURCE_MAX = PARTS_PER_BODY_MAX
export const ACTIONS_MAX = 50_000
/**
 * Maximum numbers of permissions: of one role, without those of the roles that it extends, and of all roles
 * of an environment.
 */
export const PERMISSIONS_PER_ROLE_MAX = 5_000
export const PERMISSIONS_MAX = 200_000
/** Maximum number of entries in the `granted_to` of all roles of an environment together. */
export const DERIVATIONS_MAX = 5_000
/** Maximum number of characters in the key and in the name of a condition set. */
export const CONDITION_SET_KEY_LENGTH_MAX = 255
export const CONDITION_SET_NAME_LENGTH_MAX = 255
/**
 * Maximum numbers of condition sets in an environment, of rules in an environment, and of rules on one action
 * of one resource type (conditions.md 11).
 */
export const CONDITION_SETS_MAX = 10_000
export const RULES_MAX = 100_000
export const RULES_PER_ACTION_MAX = 10_000
/** Maximum number of ancestors of a condition set. */
export const SET_ANCESTORS_MAX = 16
/**
 * Maximum number of numbers beyond 2^53 in one body. Each takes about ten times as long to parse as another
 * number.
 */
export const LONG_NUMBERS_MAX = 65_536
/** Maximum size of the conditions of one set, in bytes of JSON. */
export const CONDITION_BYTES_MAX = 262_144
/**
 * Maximum size of the conditions of all sets of an environment, in bytes of JSON. It is limited because every
 * decision thread might cache all parsed conditions.
 */
export const CONDITION_BYTES_TOTAL_MAX = 16_777_216
/**
 * Maximum number of samples in one trial of a condition set, and maximum size, in bytes of JSON, of the tests
 * that the response explains for all samples together.
 */
export const CONDITION_SAMPLES_MAX = 50
export const TRIED_TESTS_BYTES_MAX = 1_048_576
/**
 * Maximum numbers of proxy configs in an environment, of mapping rules in one config, and of mapping rules in
 * all configs.
 */
export const PROXY_CONFIGS_MAX = 1_000
export const MAPPING_RULES_PER_CONFIG_MAX = PARTS_PER_BODY_MAX
export const MAPPING_RULES_MAX = 10_000
/**
 * Maximum numbers for the URL of a mapping rule: of its characters, of its segments (scheme and host count as
 * three), and of the members of its query.
 */
export const MAPPING_URL_LENGTH_MAX = 2_048
export const MAPPING_SEGMENTS_MAX = 32
export const MAPPING_QUERY_MEMBERS_MAX = 16
/**
 * Maximum sizes, in bytes of JSON, of the URL and headers of one mapping rule, and of all mapping rules of an
 * environment. They are limited because decision threads keep the URLs in memory.
 */
export const MAPPING_RULE_BYTES_MAX = 8_192
export const MAPPING_BYTES_TOTAL_MAX = 4_194_304
/** Maximum size of the secret of a proxy config, in bytes of JSON. */
export const PROXY_SECRET_BYTES_MAX = 8_192
/**
 * Maximum number of characters in a URL that is checked. It is what servers usually accept in a request line.
 */
export const ASKED_URL_LENGTH_MAX = 8_192
/**
 * Maximum number of members in the query of a URL that is checked. Common frameworks read a thousand members,
 * and ignore or reject further ones.
 */
export const ASKED_QUERY_MEMBERS_MAX = 1_000
/** Maximum numbers of tenants and of roles to which a grant can be limited (administration.md D1). */
export const DELEGATED_TENANTS_MAX = 100
export const DELEGATED_ROLES_MAX = 100
/**
 * Maximum number of tuples, and of roles on instances, that are followed to determine which roles a change of
 * a delegate affects (administration.md D5).
 */
export const CEILING_STEPS_MAX = 10_000
/** Maximum numbers of columns of attributes, and of relations, in the request of a plan (filter.md P52). */
export const PLAN_COLUMNS_MAX = 100
/** Maximum size of the name of an attribute column, in bytes of UTF-8. */
export const COLUMN_NAME_BYTES_MAX = 255
/**
 * Default and maximum number of elements in all lists of a filter. SQLite and Prisma bind at most 32,766
 * values.
 */
export const FILTER_IDS_DEFAULT = 10_000
export const FILTER_IDS_MAX = 30_000
/** Maximum number of nodes of a filter, and its maximum size in bytes of JSON. */
export const FILTER_NODES_MAX = 5_000
export const FILTER_BYTES_MAX = 8_388_608
/** Maximum number of nodes of all parts of a filter, before the filter is simplified. */
export const FILTER_PARTS_MAX = 4 * FILTER_NODES_MAX
/**
 * Maximum numbers of stored instances that a plan scans, of tenants that it distinguishes, and of steps of
 * conditions.
 */
export const PLAN_INSTANCES_MAX = 1_000_000
export const PLAN_TENANTS_MAX = 10_000
export const PLAN_STEPS_MAX = 20_000_000
/** Maximum number of reasons in the error of a plan. */
export const PLAN_REASONS_MAX = 100
/** Maximum number of rows that one commit can write. Longer work is split into several commits. */
export const COMMIT_ROWS_MAX = 65_535
/**
 * Maximum number of removed entities in an environment that wait for their purge when another removal begins.
 * Until the purge, every read has to consider each of them. A single commit can remove more entities.
 */
export const REMOVALS_PENDING_MAX = 20_000
/**
 * Number of attempts of a command that conflicts with other writers. After them, the caller is told to retry.
 */
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
 * Maximum work of one key completion, which runs without a pause: number of rows (a row counts once per 1,024
 * bytes), and number of resource types if the request names none.
 */
export const COMPLETION_ROWS_MAX = 2_000
export const COMPLETION_RESOURCES_MAX = 500
/**
 * Maximum number of entities that one request of a key search examines. They take a few tenths of a second.
 */
export const KEY_SEARCH_ROWS_MAX = 10_000
/**
 * Maximum number of items of a list that one request examines if it filters by attributes, because attributes
 * have no secondary index.
 */
export const ATTRIBUTE_FILTER_ROWS_MAX = 1_000_000
/** Maximum size of a page with more than one entity, in bytes of JSON. */
export const PAGE_BYTES_MAX = 8_388_608
/** Maximum number of elements in a bulk call. A bulk call is one commit. */
export const BULK_ELEMENTS_MAX = 10_000
/**
 * Maximum number of relationships in the details of one instance. The list of tuples contains all of them.
 */
export const INSTANCE_RELATIONSHIPS_MAX = 1_000
/**
 * Maximum number of characters of a request id that are logged. Callers choose the id, and otherwise only the
 * size of the request header limits it.
 */
export const KEPT_REQUEST_ID_LENGTH_MAX = 128
/** Maximum size of a name in `X-Actor` or `X-Actor-For`, in bytes of UTF-8 after decoding. */
export const ACTOR_NAME_BYTES_MAX = 256
/** Maximum number of names in `X-Actor-For`. */
export const ACTORS_FOR_MAX = 10
/** Maximum size of `X-Actor` and `X-Actor-For` together, in bytes as sent. */
export const ACTOR_HEADERS_BYTES_MAX = 2_048
/**
 * Maximum size, in bytes of JSON, of a request that is kept in an audit log entry. For a longer request, the
 * entry contains only the entities in the path.
 */
export const AUDIT_INPUT_BYTES_MAX = 2_048
/**
 * Maximum number of environments in an organization, including copies in progress. Each environment has an
 * index in memory and its own files.
 */
export const ENVIRONMENTS_MAX = 1_000
/**
 * Maximum number of environments with which a project can be created. All of them are opened before the
 * response is sent.
 */
export const INITIAL_ENVIRONMENTS_MAX = 100
/** Time after which a copy of an environment that is not complete counts as abandoned and is removed. */
export const COPY_MS_MAX = 600_000
export const PROJECTS_MAX = 1_000
/** Maximum number of API keys in an organization. Every HTTP thread keeps all of them in memory. */
export const API_KEYS_MAX = 10_000
/** Maximum numbers of members, of open invitations and of member groups in an organization. */
export const MEMBERS_MAX = 10_000
export const OPEN_INVITATIONS_MAX = 1_000
export const MEMBER_GROUPS_MAX = 1_000
/**
 * Parts of these three limits that callers without level `admin` on the organization can use: on one
 * environment, on one project with its environments, and on all of them together.
 */
export const MEMBER_SHARES = { environment: 0.1, project: 0.5, total: 0.75 }
/** Maximum number of permissions of a member, and of a member group. */
export const PERMISSIONS_PER_MEMBER_MAX = 100
/**
 * Maximum number of these permissions that callers without level `admin` on the organization can give on one
 * project with its environments.
 */
export const PERMISSIONS_PER_PROJECT_MAX = 50
/** Maximum size of the settings of a member, in bytes of JSON. */
export const MEMBER_SETTINGS_BYTES_MAX = 4_096
/** Time for which an invitation can be accepted: 7 days. */
export const INVITATION_MS = 604_800_000
/** Time for which an expired invitation is shown before it is deleted: 7 days. */
export const EXPIRED_INVITATION_MS = 604_800_000
/** Time for which a member without own grants is kept after the last sign-in: 30 days. */
export const UNGRANTED_MEMBER_MS = 2_592_000_000
/** Maximum numbers of sessions of a member, and of sessions in an organization. */
export const SESSIONS_PER_MEMBER_MAX = 10
export const SESSIONS_MAX = 10_000
/**
 * Numbers of members and of sessions beyond the maximum that only owners of the settings can have, so that
 * they can always sign in.
 */
export const OWNER_MEMBERS_RESERVE = 100
export const OWNER_SESSIONS_RESERVE = 1_000
/**
 * Maximum number of members that one request deletes to make room for another: expired invitations, and
 * members without own grants who are signed out.
 */
export const DISPLACED_MEMBERS_MAX = 100
/** Number of expired sessions that one sign-in ends beyond those whose place it needs. */
export const EXPIRED_SESSIONS_ENDED_MAX = 100
/** Maximum number of groups of the issuer that a session keeps. */
export const SESSION_GROUPS_MAX = 100
/**
 * Maximum numbers of grants on projects and environments that a session has from these groups: in total, and
 * on one project with its environments.
 */
export const SESSION_GRANTS_MAX = 1_000
export const SESSION_GRANTS_PER_PROJECT_MAX = 500
/** Maximum number of characters in an e-mail address, and in a name or user agent that is kept. */
export const EMAIL_LENGTH_MAX = 320
export const MEMBER_TEXT_LENGTH_MAX = 256
/** Time for which a sign-in can be finished: 10 minutes. */
export const SIGN_IN_MS = 600_000
/** Maximum number of unfinished sign-ins of one browser. */
export const SIGN_INS_PER_BROWSER_MAX = 4
/** Maximum numbers of sign-ins on one node: begun per second, and waiting for the issuer. */
export const SIGN_INS_PER_SECOND_MAX = 20
export const SIGN_INS_AT_ONCE_MAX = 32
/** Maximum number of logout tokens that wait for the issuer on one node. */
export const LOGOUTS_AT_ONCE_MAX = 32
/** Maximum time of one request to the issuer, and of all requests for one sign-in. */
export const ISSUER_REQUEST_MS_MAX = 5_000
export const ISSUER_MS_MAX = 15_000
/** Maximum size of a response of the issuer. */
export const ISSUER_ANSWER_BYTES_MAX = 1_048_576
export const LOGOUT_TOKEN_BYTES_MAX = 16_384
/** Maximum age of a logout token, in addition to the clock skew. */
export const LOGOUT_TOKEN_SECONDS_MAX = 120
/** Maximum number of groups of a person at the issuer, and maximum size of the name of such a group. */
export const ISSUER_GROUPS_MAX = 1_000
export const ISSUER_GROUP_BYTES_MAX = 256
/** Precision with which the time of a key's last use is stored. */
export const KEY_USE_GRAIN_MS = 600_000
/** Maximum time for which a rotated key and its successor are both valid: 30 days. */
export const KEY_OVERLAP_SECONDS_MAX = 2_592_000
/** Maximum number of patterns in one filter of a copy. */
export const COPY_PATTERNS_MAX = 1_000
/**
 * Maximum number of exports that run at the same time in a process. Each keeps a snapshot of the store open,
 * with a reader and its pages.
 */
export const EXPORTS_MAX = 8
/**
 * Maximum number of imports that run at the same time in a process. Each has its own thread and keeps all
 * rows in memory.
 */
export const IMPORTS_MAX = 3
/** Maximum numbers of exports and of imports that run at the same time for one environment. */
export const EXPORTS_PER_ENVIRONMENT_MAX = 4
export const IMPORTS_PER_ENVIRONMENT_MAX = 2
/**
 * Maximum nesting depth of a line in an import. In such a line, the bodies of other requests are parts of a
 * resource, so it can be nested more deeply than they.
 */
export const CONTENT_DEPTH_MAX = JSON_DEPTH_MAX + 2
/**
 * Maximum size, in bytes, of a line in an export or import. A line can contain a resource type with all its
 * parts.
 */
export const CONTENT_LINE_BYTES_MAX = 16_777_216
/**
 * Maximum number of steps along relationships: in each of the three searches of an explanation, and for all
 * explanations of one bulk together. They take some tens of milliseconds each.
 */
export const EXPLAIN_STEPS_MAX = 262_144
/**
 * Maximum number of tenants in which `/allowed/all-tenants` checks an action that rules might allow
 * (conditions.md 10).
 */
export const TRIED_TENANTS_MAX = 10_000
/**
 * Maximum number of characters of JSON in the reasons of an explanation, or of all explanations of one bulk
 * together.
 */
export const EXPLAIN_LENGTH_MAX = 16_777_216

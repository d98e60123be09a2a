/**
 * Defines the position of every value in the shared index; no other file does. All values are little-endian
 * 32-bit words, and offsets count words.
 *
 * An index has four regions. The header contains the open sizes of graph and closures, which grow:
 *
 *   header    sequence, lock, allocator, partition heads of the string table
 *   graph     records and slabs, cut into blocks of 2^k words by the allocator (`allocator.ts`)
 *   closures  blocks appended by closure builders, reset as a whole (`closure-arena.ts`)
 *   schema    the compiled schema (`compiled-schema.ts`) in two buffers: one is read, the next is written
 *
 * The attribute index (`list-memory.ts`) has separate memory, which only searches with rules read.
 *
 * A *line* is 16 words = 64 bytes, one cache line. Records start on lines, and the id of a record is its line
 * number in the graph, so no table is needed to find a record by its id. Line 0 is never used: 0 means
 * "none".
 *
 * All records begin in the same way, so that one string table and one key comparison can be used for all
 * kinds:
 *
 *   word 0   type (16 bits) | key bytes (10) | flags (6)
 *   word 7…15  key: up to 36 bytes in place, UTF-8, zero-padded
 *
 *   instance (1 line)                       tenant (1 line, type 0)
 *   ┌────┬──────────────────────────┐       ┌────┬──────────────────────────┐
 *   │ 0  │ type, key bytes, flags   │       │ 0  │ type 0, key bytes, flags │
 *   │ 1  │ tenant (line)            │       │ 1  │ closure epoch            │
 *   │ 2,3│ in-edges: ptr, meta      │       │ 2  │ overflow directory       │
 *   │ 4,5│ assignees: ptr, meta     │       │ 4,5│ assignees: ptr, meta     │
 *   │ 6  │ container (line) or 0    │       │ 6  │ –                        │
 *   │ 7… │ key                      │       │ 7… │ key                      │
 *   └────┴──────────────────────────┘       └────┴──────────────────────────┘
 *
 *   user (2 lines, type USER_TYPE)          container (4 lines) of an instance that is a subject of a tuple
 *   ┌────┬──────────────────────────┐       or has very many in-edges
 *   │ 0  │ type, key bytes, flags   │       ┌─────┬─────────────────────────────────┐
 *   │ 1,2│ assignments: ptr, meta   │       │ 0   │ instance (line)                 │
 *   │ 3–6│ –                        │       │ 1   │ version                         │
 *   │ 7… │ key                      │       │ 2,3 │ out-edges to containers         │
 *   ├────┼──────────────────────────┤       │ 4,5 │ out-edges to other instances    │
 *   │ 16…│ filter, 512 bits         │       │ 6…14│ 3 closure heads [ptr, size, at] │
 *   └────┴──────────────────────────┘       │ 15  │ further heads: ptr or 0         │
 *                                           ├─────┼─────────────────────────────────┤
 *                                           │ 16… │ inline closures, 48 words       │
 *                                           └─────┴─────────────────────────────────┘
 *
 * In-edges refer to the *container* of the subject, because a check next needs the closure head in this
 * container, and the closure, which is usually stored inline after the head. All other references refer to
 * instances.
 */

export const MAGIC = 0x56445834
export const LAYOUT_VERSION = 9

export const WORD_BYTES = 4
export const LINE_WORDS = 16
export const LINE_WORDS_LOG2 = 4

/* ---- header ---- */

export const HEADER_WORDS = 1_024
export const H_MAGIC = 0
export const H_VERSION = 1
/** Secrets of the key hash. They prevent callers from choosing keys that collide. */
export const H_HASH_START = 2
export const H_HASH_MULTIPLIER = 3

/**
 * The sequence. It is odd while the writer is in a critical section. It is in a separate line, because every
 * reader polls it.
 */
export const H_SEQUENCE = 16
/** Layout epoch. It changes when a region grows, so that readers replace their views. */
export const H_LAYOUT_EPOCH = 17
/**
 * Closure era. It changes when the closure region starts over, so that closures built earlier are invalid.
 */
export const H_CLOSURE_ERA = 18
/** Version of the schema. */
export const H_SCHEMA_VERSION = 19
export const H_SCHEMA_BYTES = 20
/**
 * 1 if the index is retired. A retired index makes no more decisions. The layout epoch changes at the same
 * time, so readers notice.
 */
export const H_RETIRED = 21
/**
 * The word at which the head of the schema begins, and the index of the buffer that contains the schema: 0 or
 * 1.
 */
export const H_SCHEMA_HEAD = 22
export const H_SCHEMA_IN = 23

/**
 * The lock. `H_LOCK` contains the id of the thread that can change shared memory (0: none). `H_LOCK_NEXT`
 * contains the id of the thread that is next. Both words are in a separate line.
 */
export const H_LOCK = 32
export const H_LOCK_NEXT = 33

/**
 * Number of words that are open after the top of the graph, because a prefetch can read a few lines beyond a
 * block.
 */
export const OPEN_BEHIND_TOP = 64

/**
 * The first word of the graph that was never allocated, the number of words on free lists, and the free lists
 * by log2 of their block size.
 */
export const H_GRAPH_TOP = 48
export const H_GRAPH_FREE_WORDS = 49
export const H_FREE_LISTS = 50
export const SIZE_CLASSES = 31
/** Number of blocks on each free list. */
export const H_FREE_COUNTS = 112

/** First free word of the closure region, and the number of words that no head refers to any more. */
export const H_CLOSURE_TOP = 96
export const H_CLOSURE_DEAD = 97

/**
 * Counters for statistics: closures that were built, containers whose closures were invalidated, and tenants
 * for which all closures were invalidated. The counters wrap.
 */
export const H_CLOSURES_BUILT = 98
export const H_CONTAINERS_VOIDED = 99
export const H_TENANTS_VOIDED = 103

/** Numbers of facts and records in the index, for statistics and benchmarks. */
export const H_ASSIGNMENTS = 100
export const H_TUPLES = 101
export const H_RECORDS = 102

/** Number of open words of the graph and of the closures. These are the bounds of views. */
export const H_GRAPH_WORDS = 104
export const H_CLOSURE_WORDS = 105

/** Number of attribute names that have a number, and the word of their directory (`attribute-names.ts`). */
export const H_NAMES = 106
export const H_NAME_DIRECTORY = 107

/** Word of the directory in the memory of the attribute index (`attribute-index/list-directory.ts`). */
export const H_LIST_DIRECTORY = 108

/** Number of facts with an expiration time. */
export const H_EXPIRING = 109

/** Partitions of the string table. Two words each: [ptr of the slots, count << 5 | log2 capacity]. */
export const H_PARTITIONS = 256
export const PARTITION_COUNT = 256
export const PARTITION_BITS = 8

/** Partitions of the expiration table (`expiry-table.ts`). Four words each. */
export const H_EXPIRY_PARTITIONS = 768
export const EXPIRY_PARTITIONS_LOG2 = 6
export const EXPIRY_PARTITIONS = 1 << EXPIRY_PARTITIONS_LOG2

/* ---- word 0 of a record ---- */

export const TYPE_SHIFT = 16
export const KEY_BYTES_SHIFT = 6
export const KEY_BYTES_MASK = 0x3ff
/** Bits of the type and the key length. A lookup compares them before it compares the key. */
export const IDENTITY_MASK = ~0x3f
/** The record was deleted, but other records still reference it. */
export const FLAG_DEAD = 1
/**
 * The key is stored outside the record, because it is long or its space is needed for attributes. Word 7
 * points to [attributes ptr, key words…].
 */
export const FLAG_EXTERNAL = 2
/**
 * The record has attributes. The pointer to them is in word 15. If the key is stored outside, it is in the
 * first word of that block.
 */
export const FLAG_ATTRIBUTES = 4
/** The attributes are `{}`. They take no bytes. */
export const FLAG_EMPTY_ATTRIBUTES = 8
/** The record is an overflow line of a tenant (`tenant-role-overflow.ts`). */
export const FLAG_OVERFLOW = 16

export const TENANT_TYPE = 0
export const USER_TYPE = 0xffff
export const KEY_BYTES_MAX = 512

/* ---- records ---- */

export const R_HEAD = 0
export const R_KEY = 7
export const R_KEY_WORDS = 9
/** If a record has attributes, the last word of its key contains the pointer to them. */
export const R_ATTRIBUTES = 15
export const R_KEY_WORDS_BESIDE_ATTRIBUTES = 8

export const I_TENANT = 1
export const I_IN = 2
export const I_ASSIGNEES = 4
export const I_CONTAINER = 6

/**
 * In a tenant: the closure epoch, which is part of the version of every closure of the tenant's instances.
 */
export const T_CLOSURE_EPOCH = 1
/** In a tenant: the word of the directory of its overflow lines; 0 if it has none. */
export const T_OVERFLOW = 2

/**
 * In an overflow line: its tenant, and its position in the directory. The descriptor of its assignees is at
 * the same position as in an instance.
 */
export const A_TENANT = 1
export const A_GROUP = 2

export const U_ASSIGNMENTS = 1
export const U_FILTER = 16
export const USER_LINES_LOG2 = 1
/**
 * Shift that selects a bit of a filter from a hash. A filter has 2^9 bits, so the top 9 bits of the hash are
 * used.
 */
export const FILTER_SHIFT = 23

export const C_INSTANCE = 0
export const C_VERSION = 1
export const C_OUT_CONTAINERS = 2
export const C_OUT_OTHERS = 4
export const C_HEADS = 6
export const C_HEADS_IN_PLACE = 3
export const C_MORE_HEADS = 15
/** Range of words in a container that contains short closures inline (`closure-builder.ts`). */
export const C_INLINE_CLOSURES = 16
export const C_INLINE_END = 64
export const CONTAINER_LINES_LOG2 = 2

/**
 * Closure head, three words:
 *
 * - the position of the block: in the closure region or, as a negative number, in the container
 * - low bits of the closure era << 29 | entries << 1 | has gates
 * - the sum of the versions for which the closure was built
 */
export const HEAD_WORDS = 3
export const HEAD_BLOCK = 0
export const HEAD_SIZE = 1
export const HEAD_BUILT_AT = 2
export const HEAD_ERA_SHIFT = 29
/** Bits of the size word that do not belong to the era. */
export const HEAD_SIZE_MASK = (1 << HEAD_ERA_SHIFT) - 1

/* ---- slab descriptors: [ptr, meta] with meta = count << 5 | log2 capacity ---- */

export const COUNT_SHIFT = 5
/** Maximum number of entries of a slab. The number of count bits limits it. */
export const ENTRIES_MAX = 2 ** (32 - COUNT_SHIFT) - 1
export const LOG2_MASK = 31
/**
 * Value in place of log2 capacity: the slab has a single entry, which the descriptor itself contains (ptr =
 * entry, count bits = edge class).
 */
export const INLINE = 31

/* ---- assignments: pairs [scope, role mask] ---- */

/**
 * A scope is a line (instance or tenant) and a bank. A bank is a group of 32 roles of a type, because a mask
 * has 32 bits. One mask thus contains all roles that a user holds in a scope. Only the schema compiler uses
 * banks. Tenant roles that do not fit into the banks of one line are stored under further lines
 * (`tenant-role-overflow.ts`).
 */
export const LINE_BITS = 26
export const LINE_MASK = (1 << LINE_BITS) - 1
export const BANK_SHIFT = LINE_BITS
export const BANKS_LOG2 = 6
export const BANKS_MAX = 1 << BANKS_LOG2
export const BANK_ROLES = 32
/**
 * Maximum number of lines of a tenant, including its own. The directory of the tenant has one word per line.
 */
export const TENANT_LINES_MAX = LINE_WORDS
export const TENANT_BANKS_MAX = TENANT_LINES_MAX * BANKS_MAX

/**
 * Maximum number of in-edges that a check follows one by one. An instance with more in-edges is wide: its own
 * closure or a search from the user decides.
 */
export const WIDE_IN_EDGES = 16
/**
 * Maximum number of entries of a closure without a hash table. In a longer closure, the hash table makes it
 * possible to search the smaller side (`closure-block.ts`).
 */
export const CLOSURE_LIST_MAX = 40

/**
 * Multiplier of the hash of ids. Tables use the top bits of the product, so their entries keep their order
 * when a table is doubled.
 */
export const ID_HASH = 0x9e3779b1 | 0

/**
 * The layout of one indexed request body in linear memory, shared by the WASM module (`src/pdata/wasm`, which imports
 * this file as AssemblyScript) and by the TypeScript cursors. It contains only plain integer constants, because both
 * compilers read it.
 *
 * Rows are records of a fixed stride; a field is an offset within its row, and comments give its size. Offsets and
 * lengths of texts are absolute addresses and bytes. Regions are reserved once and never grow, so views are never
 * detached; pages that were never written cost no memory. Tables are not cleared between requests: a row is valid when
 * its index is below its count.
 */

// ── Signals and encodings ────────────────────────────────────────────────────────────────────────────────────────────
export const SIGNAL_TRACES = 0;
export const SIGNAL_LOGS = 1;
export const SIGNAL_METRICS = 2;
export const ENCODING_PROTOBUF = 0;
export const ENCODING_JSON = 1;

// ── Limits of one request. Beyond any of them the request is refused as `body_too_large` ─────────────────────────────
export const MAX_RECORDS = 524288; // spans, log records, or data points
export const MAX_ATTRIBUTES = 1048576; // attribute rows of every owner together, and log bodies
export const MAX_EVENTS = 524288; // span events, or exemplars
export const MAX_LINKS = 524288;
export const MAX_RESOURCES = 131072;
export const MAX_SCOPES = 131072;
export const MAX_METRICS = 262144;
export const MAX_POINTS = 524288; // data rows of histograms, exponential histograms and summaries
export const MAX_NUMBERS = 2097152; // bucket counts, bounds, quantile pairs
/** Entries of one map among the values, and unknown members of one JSON object. */
export const MAX_MAP_ENTRIES = 65536;
/** JSON numbers with many digits or extreme exponents, which take longer to read. */
export const MAX_HARD_NUMBERS = 131072;
export const MAX_DERIVED = 262144; // beyond it, further records keep their attributes but get no derived fields
export const MAX_REFERENCES = 1048576;
/** The module that does not pause takes no more rows of one table, except numbers: other requests would wait long. */
export const MAX_ROWS_AT_ONCE = 65536;
/** Interned keys that live as long as the process. */
export const MAX_SYMBOLS = 16384;
/**
 * Keys of one request only, when the table above is full; ids start at MAX_SYMBOLS. Looking up the fields of a new key
 * takes microseconds: more of them would block all other requests for seconds.
 */
export const MAX_LOCAL_SYMBOLS = 65536;
/** A longer key is never interned permanently. */
export const MAX_SYMBOL_BYTES = 256;
export const SYMBOL_BUCKETS = 524288; // a power of two

// ── Strides ──────────────────────────────────────────────────────────────────────────────────────────────────────────
export const RECORD_STRIDE = 144;
export const ATTRIBUTE_STRIDE = 16;
export const EVENT_STRIDE = 80;
export const LINK_STRIDE = 64;
export const RESOURCE_STRIDE = 64;
export const SCOPE_STRIDE = 64;
export const METRIC_STRIDE = 64;
export const POINT_STRIDE = 128;
export const NUMBER_STRIDE = 8;
// columns: stride
// Made from `src/pdata/columns.ts` by `npm run docs`. Do not edit.
export const DERIVED_STRIDE = 544;
// end of columns
export const SLOT_STRIDE = 16;
export const REFERENCE_STRIDE = 4;
export const SYMBOL_STRIDE = 32;

// ── Regions ──────────────────────────────────────────────────────────────────────────────────────────────────────────
/** The region below HEADER_BASE belongs to the compiler (static data). */
export const HEADER_BASE = 524288;
export const HEADER_SIZE = 4096;
/** Texts that TypeScript registers permanently: canonical words, replacement texts. */
export const CONSTANTS_BASE = 528384; // HEADER_BASE + HEADER_SIZE
export const CONSTANTS_CAPACITY = 4194304;
export const KEY_TEXT_BASE = 4722688; // CONSTANTS_BASE + CONSTANTS_CAPACITY
export const KEY_TEXT_CAPACITY = 8388608; // MAX_SYMBOLS × (MAX_SYMBOL_BYTES × 2), text and its escaped `"key":` form
export const INPUT_BASE = 13111296; // KEY_TEXT_BASE + KEY_TEXT_CAPACITY
export const INPUT_CAPACITY = 16777216;
/** Kernels may load this far past a text and store this far past the output. */
export const SLACK = 65536;
export const SYMBOLS_BASE = INPUT_BASE + INPUT_CAPACITY + SLACK;
export const SYMBOL_BUCKETS_BASE = SYMBOLS_BASE + (MAX_SYMBOLS + MAX_LOCAL_SYMBOLS) * SYMBOL_STRIDE;
export const RECORDS_BASE = SYMBOL_BUCKETS_BASE + SYMBOL_BUCKETS * 4;
export const ATTRIBUTES_BASE = RECORDS_BASE + MAX_RECORDS * RECORD_STRIDE;
export const EVENTS_BASE = ATTRIBUTES_BASE + MAX_ATTRIBUTES * ATTRIBUTE_STRIDE;
export const LINKS_BASE = EVENTS_BASE + MAX_EVENTS * EVENT_STRIDE;
export const RESOURCES_BASE = LINKS_BASE + MAX_LINKS * LINK_STRIDE;
export const SCOPES_BASE = RESOURCES_BASE + MAX_RESOURCES * RESOURCE_STRIDE;
export const METRICS_BASE = SCOPES_BASE + MAX_SCOPES * SCOPE_STRIDE;
export const POINTS_BASE = METRICS_BASE + MAX_METRICS * METRIC_STRIDE;
export const NUMBERS_BASE = POINTS_BASE + MAX_POINTS * POINT_STRIDE;
export const DERIVED_BASE = NUMBERS_BASE + MAX_NUMBERS * NUMBER_STRIDE;
export const REFERENCES_BASE = DERIVED_BASE + MAX_DERIVED * DERIVED_STRIDE;
export const SCRATCH_BASE = REFERENCES_BASE + MAX_REFERENCES * REFERENCE_STRIDE;
/** Texts that are computed during a request: replaced, unescaped, rendered. */
export const SCRATCH_CAPACITY = 67108864;
export const OUTPUT_BASE = SCRATCH_BASE + SCRATCH_CAPACITY + SLACK;
/** One record, fully escaped, must fit: six times the largest body and room for its fields. */
export const OUTPUT_CAPACITY = 134217728;
/** A compressed body is in the region of the rows: it is expanded before any row is written. */
export const COMPRESSED_BASE = OUTPUT_BASE;
export const COMPRESSED_CAPACITY = INPUT_CAPACITY;
/** Zeros that the inflater may read behind a compressed body. */
export const COMPRESSED_PADDING = 64;
/**
 * The search for literal prefixes, in the same region: tables of bucket masks, two of 16 bytes for each of the three
 * bytes of a fingerprint; tables of prefixes, 256 sets of 128 for each of PREFIX_BYTES from there; and the candidates.
 */
export const PREFIX_BUCKETS_BASE = OUTPUT_BASE;
export const PREFIX_BUCKETS_SIZE = 96;
export const PREFIX_BYTES_BASE = PREFIX_BUCKETS_BASE + PREFIX_BUCKETS_SIZE;
export const PREFIX_BYTES = 6;
export const PREFIX_BYTES_SIZE = 24576; // PREFIX_BYTES × 256 × PREFIX_MASK_BITS / 8
export const PREFIX_MASK_BITS = 128;
export const PREFIX_CANDIDATES_BASE = PREFIX_BYTES_BASE + PREFIX_BYTES_SIZE;
/** A number small enough that the candidates are still in the CPU cache when they are read. */
export const MAX_PREFIX_CANDIDATES = 1024;
export const PREFIX_CANDIDATE_STRIDE = 20;
export const PREFIX_CANDIDATE_ADDRESS = 0; // u32 absolute address
export const PREFIX_CANDIDATE_MASK = 4; // a set of PREFIX_MASK_BITS bits
/** The encoder of OTLP requests returns to TypeScript once this many bytes are waiting. */
export const OUTPUT_SOFT_LIMIT = 1048576;
/** The encoder of rows returns earlier: the rows are copied out while they are still in the second-level cache. */
export const ROWS_SOFT_LIMIT = 98304;
/** The saved frames of a paused call: some hundred, for values of the deepest nesting. */
export const PAUSE_BASE = OUTPUT_BASE + OUTPUT_CAPACITY + SLACK;
export const PAUSE_CAPACITY = 262144;
export const MEMORY_END = PAUSE_BASE + PAUSE_CAPACITY;

// ── Header: counts of the current request, u32 each, at HEADER_BASE + … ──────────────────────────────────────────────
export const HEADER_RECORDS = 0;
export const HEADER_ATTRIBUTES = 4;
export const HEADER_EVENTS = 8;
export const HEADER_LINKS = 12;
export const HEADER_RESOURCES = 16;
export const HEADER_SCOPES = 20;
export const HEADER_METRICS = 24;
export const HEADER_POINTS = 28;
export const HEADER_NUMBERS = 32;
export const HEADER_DERIVED = 36;
export const HEADER_REFERENCES = 40;
export const HEADER_SYMBOLS = 44; // persistent symbols so far; symbol 0 is never used
export const HEADER_LOCAL_SYMBOLS = 48;
export const HEADER_SCRATCH = 52; // absolute address of the next free scratch byte
export const HEADER_OUTPUT_LENGTH = 56; // bytes waiting at OUTPUT_BASE
export const HEADER_SIGNAL = 60;
export const HEADER_ENCODING = 64;
export const HEADER_INPUT_LENGTH = 68;
export const HEADER_TEXT_OFFSET = 72; // result of functions that return a text
export const HEADER_TEXT_LENGTH = 76;
export const HEADER_TEXT_FLAGS = 80;
export const HEADER_CONSTANTS = 84; // absolute address of the next free constant byte
export const HEADER_KEY_TEXT = 88; // absolute address of the next free key byte
export const HEADER_PROJECT_OFFSET = 92; // set before encoding: the `project` column
export const HEADER_PROJECT_LENGTH = 96;
export const HEADER_RECEIVED_AT = 104; // i64, microseconds since the Unix epoch: the `received_at` column
export const HEADER_OUTPUT_ROWS = 112; // rows waiting at OUTPUT_BASE
export const HEADER_MAX_DEPTH = 116; // AnyValue nesting allowed; set before indexing
export const HEADER_INFLATED = 120; // absolute address behind the bytes that were expanded
export const HEADER_INFLATE_END = 124; // absolute address behind the compressed stream
export const HEADER_PREFIX_CANDIDATES = 128; // how many of them findPrefixes found
export const HEADER_OUTPUT_LIMIT = 132; // bytes the rows may still take; set before each piece is encoded

// ── Text flags (u8), beside every (offset, length) ───────────────────────────────────────────────────────────────────
/** Holds a quote, a backslash or a control character: JSON output must escape. */
export const TEXT_NEEDS_ESCAPE = 1;
/** Holds U+0000, printed as U+FFFD. */
export const TEXT_HAS_NUL = 2;
/** The bytes are the inside of a JSON string literal: JSON output copies them, everything else must unescape first. */
export const TEXT_JSON_ESCAPED = 4;

// ── Attribute row: contiguous per owner (record, event, link, exemplar, resource, scope, metric) ─────────────────────
export const ATTRIBUTE_SYMBOL = 0; // u32 key; 0 for a log body
export const ATTRIBUTE_KIND = 4; // u8
export const ATTRIBUTE_FLAGS = 5; // u8 text flags
export const ATTRIBUTE_DISPOSITION = 6; // u8
export const ATTRIBUTE_OFFSET = 8; // u32 | a 64-bit scalar at 8
export const ATTRIBUTE_LENGTH = 12; // u32
export const ATTRIBUTE_SCALAR = 8; // i64 | f64 | bool as i64 0/1

export const KIND_NONE = 0; // an AnyValue without a value: null
export const KIND_TEXT = 1;
export const KIND_BOOL = 2;
export const KIND_INT = 3; // i64
export const KIND_DOUBLE = 4; // f64
export const KIND_ARRAY = 5; // checked source of an ArrayValue: protobuf message body, or JSON object {"values":[…]}
export const KIND_MAP = 6; // checked source of a KeyValueList: likewise
export const KIND_BYTES = 7; // raw bytes, printed as base64
export const KIND_NUMBER_TEXT = 8; // a JSON number as written, already within what jsonb takes
export const KIND_BASE64_TEXT = 9; // canonical base64 text
export const KIND_JSON = 10; // finished JSON text in scratch, printed verbatim (a redacted nested value)

export const DISPOSITION_KEEP = 0;
export const DISPOSITION_DROP = 1; // may not be stored, nowhere
export const DISPOSITION_MOVED = 2; // printed in a column of its own, not among the attributes
export const DISPOSITION_SUPERSEDED = 3; // a later attribute of the same list has the same key

// ── Record row: span, log record or data point. Ids are inline; all zero bytes mean absent ───────────────────────────
export const RECORD_START = 0; // u64 ns: span start | log time | point start
export const RECORD_END = 8; // u64 ns: span end (0 unknown) | log observed time | point time
export const RECORD_TRACE_ID = 16; // 16 bytes
export const RECORD_SPAN_ID = 32; // 8 bytes
export const RECORD_PARENT_SPAN_ID = 40; // 8 bytes, spans
export const RECORD_ATTRIBUTES_FIRST = 48; // u32
export const RECORD_ATTRIBUTES_COUNT = 52; // u32
export const RECORD_RESOURCE = 56; // u32
export const RECORD_SCOPE = 60; // u32
export const RECORD_DERIVED = 64; // u32 derived row + 1; 0 none
export const RECORD_FLAGS = 68; // u32 the OTLP `flags` field
export const RECORD_NAME_OFFSET = 72; // span name | log event_name
export const RECORD_NAME_LENGTH = 76;
export const RECORD_STATE_OFFSET = 80; // span trace_state | log severity_text
export const RECORD_STATE_LENGTH = 84;
export const RECORD_MESSAGE_OFFSET = 88; // span status_message
export const RECORD_MESSAGE_LENGTH = 92;
export const RECORD_NAME_FLAGS = 96; // u8
export const RECORD_STATE_FLAGS = 97; // u8
export const RECORD_MESSAGE_FLAGS = 98; // u8
export const RECORD_KIND = 99; // u8: span kind 0…5 | log severity number 0…24 | point: value kind below
export const RECORD_STATUS = 100; // u8: span status 0 unset 1 ok 2 error
export const RECORD_EVENTS_FIRST = 104; // u32 span events | point exemplars
export const RECORD_EVENTS_COUNT = 108;
export const RECORD_LINKS_FIRST = 112; // u32 spans
export const RECORD_LINKS_COUNT = 116;
export const RECORD_BODY = 112; // logs: u32 attribute row + 1 of the body; 0 none
export const RECORD_METRIC = 112; // points: u32 metric row
export const RECORD_POINT = 116; // points: u32 point row + 1; 0 none (gauge, sum)
export const RECORD_VALUE = 120; // points: i64 | f64 of a number point
export const RECORD_DROPPED_ATTRIBUTES = 128; // u32 the OTLP dropped_* counts
export const RECORD_DROPPED_EVENTS = 132;
export const RECORD_DROPPED_LINKS = 136;

export const POINT_VALUE_NONE = 0;
export const POINT_VALUE_DOUBLE = 1;
export const POINT_VALUE_INT = 2;

// ── Event row: span event or exemplar ────────────────────────────────────────────────────────────────────────────────
export const EVENT_TIME = 0; // u64 ns
export const EVENT_TRACE_ID = 8; // 16 bytes, exemplars
export const EVENT_SPAN_ID = 24; // 8 bytes, exemplars
export const EVENT_NAME_OFFSET = 32; // span events
export const EVENT_NAME_LENGTH = 36;
export const EVENT_NAME_FLAGS = 40; // u8
export const EVENT_DISPOSITION = 41; // u8 DISPOSITION_KEEP or DISPOSITION_DROP
export const EVENT_VALUE_KIND = 42; // u8 POINT_VALUE_…, exemplars
export const EVENT_ATTRIBUTES_FIRST = 44; // u32; exemplars: filtered_attributes
export const EVENT_ATTRIBUTES_COUNT = 48;
export const EVENT_DROPPED_ATTRIBUTES = 52;
export const EVENT_VALUE = 56; // i64 | f64, exemplars
export const EVENT_SOURCE_START = 64; // u32, for the indexer: where the message begins and ends in the input
export const EVENT_SOURCE_END = 68;

// ── Link row ─────────────────────────────────────────────────────────────────────────────────────────────────────────
export const LINK_TRACE_ID = 0; // 16 bytes
export const LINK_SPAN_ID = 16; // 8 bytes
export const LINK_STATE_OFFSET = 24;
export const LINK_STATE_LENGTH = 28;
export const LINK_STATE_FLAGS = 32; // u8
export const LINK_FLAGS = 36; // u32
export const LINK_ATTRIBUTES_FIRST = 40;
export const LINK_ATTRIBUTES_COUNT = 44;
export const LINK_DROPPED_ATTRIBUTES = 48;
export const LINK_SOURCE_START = 52; // u32, for the indexer
export const LINK_SOURCE_END = 56;

// ── Resource row ─────────────────────────────────────────────────────────────────────────────────────────────────────
export const RESOURCE_ATTRIBUTES_FIRST = 0;
export const RESOURCE_ATTRIBUTES_COUNT = 4;
export const RESOURCE_ENVIRONMENT_OFFSET = 8; // set by the environment processor
export const RESOURCE_ENVIRONMENT_LENGTH = 12;
export const RESOURCE_ENVIRONMENT_FLAGS = 16; // u8
export const RESOURCE_CAPTURE = 17; // u8: 1 content may be stored; set by the privacy processor
export const RESOURCE_JSON_OFFSET = 20; // rendered once by the encoder; 0 not yet. Its length follows.
export const RESOURCE_SERVICE_ROW = 28; // u32 attribute row + 1 of service.name; 0 none; found by the encoder

// ── Scope row ────────────────────────────────────────────────────────────────────────────────────────────────────────
export const SCOPE_ATTRIBUTES_FIRST = 0;
export const SCOPE_ATTRIBUTES_COUNT = 4;
export const SCOPE_NAME_OFFSET = 8;
export const SCOPE_NAME_LENGTH = 12;
export const SCOPE_VERSION_OFFSET = 16;
export const SCOPE_VERSION_LENGTH = 20;
export const SCOPE_NAME_FLAGS = 24; // u8
export const SCOPE_VERSION_FLAGS = 25; // u8
export const SCOPE_JSON_OFFSET = 28; // rendered attributes; 0 not yet. Its length follows.

// ── Resource and scope rows alike: how rows in COPY form refer to them ──────────────────────────────────────────────
export const SHARED_STATE = 40; // u8, one of the following
export const SHARED_UNSEEN = 0;
export const SHARED_LISTED = 1;
export const SHARED_NOTHING = 2; // a scope without name, version and attributes: the reference is null
export const SHARED_ID = 48; // 16 bytes, the id of the content; set by TypeScript for what encodeShared has listed

// ── Entry of encodeShared, in the output ─────────────────────────────────────────────────────────────────────────────
export const SHARED_ENTRY_ROW = 0; // u32 absolute address of the resource or scope row
export const SHARED_ENTRY_LENGTH = 4; // u32, bytes of the content behind this header
export const SHARED_ENTRY_ID = 8; // 16 bytes, left free for TypeScript
export const SHARED_ENTRY_SIZE = 24; // the content follows: its kind (u8), then fields of COPY: project, then its own
export const SHARED_RESOURCE = 1;
export const SHARED_SCOPE = 2;

// ── Metric row ───────────────────────────────────────────────────────────────────────────────────────────────────────
export const METRIC_NAME_OFFSET = 0;
export const METRIC_NAME_LENGTH = 4;
export const METRIC_DESCRIPTION_OFFSET = 8;
export const METRIC_DESCRIPTION_LENGTH = 12;
export const METRIC_UNIT_OFFSET = 16;
export const METRIC_UNIT_LENGTH = 20;
export const METRIC_NAME_FLAGS = 24; // u8
export const METRIC_DESCRIPTION_FLAGS = 25; // u8
export const METRIC_UNIT_FLAGS = 26; // u8
export const METRIC_TYPE = 27; // u8
export const METRIC_TEMPORALITY = 28; // u8 0 unspecified 1 delta 2 cumulative
export const METRIC_MONOTONIC = 29; // u8 0/1
export const METRIC_ATTRIBUTES_FIRST = 32; // metadata
export const METRIC_ATTRIBUTES_COUNT = 36;

export const METRIC_NONE = 0; // no data member: the metric counts as a record for the empty check, and yields no row
export const METRIC_GAUGE = 1;
export const METRIC_SUM = 2;
export const METRIC_HISTOGRAM = 3;
export const METRIC_EXPONENTIAL_HISTOGRAM = 4;
export const METRIC_SUMMARY = 5;

// ── Point row: data of histograms, exponential histograms, summaries ─────────────────────────────────────────────────
export const POINT_COUNT = 0; // u64
export const POINT_SUM = 8; // f64
export const POINT_MIN = 16; // f64
export const POINT_MAX = 24; // f64
export const POINT_ZERO_COUNT = 32; // u64
export const POINT_ZERO_THRESHOLD = 40; // f64
export const POINT_SCALE = 48; // i32
export const POINT_HAS = 52; // u32 bits below
export const POINT_BOUNDS_FIRST = 56; // u32 index into the numbers, f64 each
export const POINT_BOUNDS_COUNT = 60;
export const POINT_BUCKETS_FIRST = 64; // u64 each
export const POINT_BUCKETS_COUNT = 68;
export const POINT_POSITIVE_OFFSET = 72; // i32
export const POINT_POSITIVE_FIRST = 76; // u64 each
export const POINT_POSITIVE_COUNT = 80;
export const POINT_NEGATIVE_OFFSET = 84; // i32
export const POINT_NEGATIVE_FIRST = 88; // u64 each
export const POINT_NEGATIVE_COUNT = 92;
export const POINT_QUANTILES_FIRST = 96; // f64 pairs: quantile, value
export const POINT_QUANTILES_COUNT = 100; // pairs

export const POINT_HAS_SUM = 1;
export const POINT_HAS_MIN = 2;
export const POINT_HAS_MAX = 4;
export const POINT_HAS_POSITIVE = 8;
export const POINT_HAS_NEGATIVE = 16;

// ── Derived row: what normalization and pricing read out of one record ───────────────────────────────────────────────
// columns: derived row
// Made from `src/pdata/columns.ts` by `npm run docs`. Do not edit.
export const DERIVED_MASK = 0; // u32, bit = slot filled
export const DERIVED_CATEGORY = 4; // u8 index into its words
export const DERIVED_USAGE_SCOPE = 5; // u8 index into its words
export const DERIVED_COST_SOURCE = 6; // u8 index into its words
export const DERIVED_IS_ERROR = 7; // u8 0 null 1 false 2 true
export const DERIVED_NUMBERS = 8; // f64 × DERIVED_NUMBER_COUNT, NaN = unavailable
export const DERIVED_COSTS = 136; // i64 × DERIVED_COST_COUNT, whole 1e-8 USD, i64 minimum = unavailable
export const DERIVED_SLOTS = 160; // SLOT_STRIDE × DERIVED_SLOT_COUNT

export const DERIVED_NUMBER_COUNT = 16;
export const NUMBER_INPUT_TOKENS = 0;
export const NUMBER_OUTPUT_TOKENS = 1;
export const NUMBER_TOTAL_TOKENS = 2;
export const NUMBER_CACHE_READ_TOKENS = 3;
export const NUMBER_CACHE_WRITE_TOKENS = 4;
export const NUMBER_REASONING_TOKENS = 5;
export const NUMBER_LATENCY_MS = 6;
export const NUMBER_TIME_TO_FIRST_TOKEN_MS = 7;
export const NUMBER_CACHE_WRITE_1H_TOKENS = 8; // for pricing only
export const NUMBER_AUDIO_INPUT_TOKENS = 9; // for pricing only
export const NUMBER_AUDIO_OUTPUT_TOKENS = 10; // for pricing only
export const NUMBER_AUDIO_CACHE_READ_TOKENS = 11; // for pricing only
export const NUMBER_IMAGE_INPUT_TOKENS = 12; // for pricing only
export const NUMBER_IMAGE_OUTPUT_TOKENS = 13; // for pricing only
export const NUMBER_SERVICE_TIER = 14; // for pricing only

export const DERIVED_COST_COUNT = 3;
export const COST_INPUT = 0;
export const COST_OUTPUT = 1;
export const COST_TOTAL = 2;

export const DERIVED_SLOT_COUNT = 24;
export const SLOT_OPERATION = 0;
export const SLOT_PROVIDER = 1;
export const SLOT_REQUEST_MODEL = 2;
export const SLOT_RESPONSE_MODEL = 3;
export const SLOT_RESPONSE_ID = 4;
export const SLOT_PRICE_ID = 5;
export const SLOT_FINISH_REASONS = 6; // JSON
export const SLOT_ERROR_TYPE = 7;
export const SLOT_INPUT_CONTENT = 8;
export const SLOT_OUTPUT_CONTENT = 9;
export const SLOT_SYSTEM_INSTRUCTIONS = 10;
export const SLOT_TOOL_NAME = 11;
export const SLOT_TOOL_CALL_ID = 12;
export const SLOT_TOOL_ARGUMENTS = 13;
export const SLOT_TOOL_RESULT = 14;
export const SLOT_RETRIEVAL_QUERY = 15;
export const SLOT_RETRIEVAL_DOCUMENTS = 16;
export const SLOT_AGENT_NAME = 17;
export const SLOT_CONVERSATION_ID = 18;
export const SLOT_USER_ID = 19;
export const SLOT_DIALECT = 20;
// end of columns

// A slot: a reference to where its text stands, never a copy of content.
export const SLOT_SOURCE = 0; // u8
export const SLOT_FLAGS = 1; // u8 text flags, for SOURCE_TEXT
export const SLOT_ROW = 4; // u32 attribute row + 1 the text came from; 0 none. A dropped row empties the slot
export const SLOT_OFFSET = 8; // u32 text offset | first reference
export const SLOT_LENGTH = 12; // u32 text length | number of references

export const SOURCE_NONE = 0;
export const SOURCE_ATTRIBUTE = 1; // the whole value of SLOT_ROW, as text (structured values as JSON)
export const SOURCE_TEXT = 2; // a text anywhere in memory: a constant, scratch, or a part of SLOT_ROW's value
export const SOURCE_REFERENCES = 3; // several attribute rows, printed as one JSON object of their keys and values

// ── Symbol row ───────────────────────────────────────────────────────────────────────────────────────────────────────
export const SYMBOL_OFFSET = 0; // u32 key text (raw UTF-8, never JSON-escaped)
export const SYMBOL_LENGTH = 4;
export const SYMBOL_JSON_OFFSET = 8; // u32 finished `"key":`, escaped; 0 not made yet
export const SYMBOL_JSON_LENGTH = 12;
export const SYMBOL_GENERATION = 16; // u32 list generation that last used it (duplicate keys)
export const SYMBOL_LAST_ROW = 20; // u32 its row in that list
export const SYMBOL_NEXT = 24; // u32 the key that followed last time
export const SYMBOL_CHAIN = 28; // u32 next symbol of the same bucket

// Symbols every arena knows, interned first and in this order.
export const SYMBOL_SERVICE_NAME = 1; // service.name
export const SYMBOL_ENVIRONMENT_NAME = 2; // deployment.environment.name
export const SYMBOL_ENVIRONMENT = 3; // deployment.environment

// ── Failures of the indexer: `fail(code, position)` ──────────────────────────────────────────────────────────────────
export const FAIL_PROTOBUF = 1; // invalid_protobuf
export const FAIL_JSON = 2; // invalid_json
export const FAIL_ID = 3; // invalid_id
export const FAIL_PAYLOAD = 4; // invalid_payload: timestamp, duplicate key, snake_case key, nesting
export const FAIL_BUDGET = 5; // body_too_large: more elements than a table holds
export const FAIL_OUTPUT = 6; // internal: output or scratch does not fit
export const FAIL_INFLATE = 7; // decompression_failed; the position is one of the compressed bytes
export const FAIL_EXPANDED = 8; // body_too_large: more bytes than allowed while expanding
export const FAIL_AT_ONCE = 9; // internal: more rows than the module that does not pause takes

/* The contents of a binary hook table of coldtrace; hook_table.h reads them.
   docs/formats/hook-table-format.md says what each value means. */
#ifndef COLDTRACE_HOOK_TABLE_TYPES_H
#define COLDTRACE_HOOK_TABLE_TYPES_H

/* The one block that is not C89. trace_writer.h has it too: C89 allows a typedef only once. */
#ifndef COLDTRACE_INTEGERS
#define COLDTRACE_INTEGERS
#if defined(_MSC_VER)
typedef unsigned __int64 coldtrace_u64;
#elif defined(__GNUC__)
__extension__ typedef unsigned long long coldtrace_u64;
#else
typedef unsigned long long coldtrace_u64;
#endif
typedef unsigned char coldtrace_u8;
typedef unsigned short coldtrace_u16;
typedef unsigned int coldtrace_u32;
#endif

typedef char coldtrace_hook_check_u32[sizeof(coldtrace_u32) == 4 ? 1 : -1];
typedef char coldtrace_hook_check_u64[sizeof(coldtrace_u64) == 8 ? 1 : -1];

/* A 32-bit number that has no value; a 64-bit number then is COLDTRACE_HOOK_ABSENT64. */
#define COLDTRACE_HOOK_ABSENT 0xffffffffU
#define COLDTRACE_HOOK_ABSENT64 (~(coldtrace_u64)0)
#define COLDTRACE_HOOK_MAJOR_VERSION 1

typedef enum coldtrace_hook_status {
  COLDTRACE_HOOK_OK = 0,
  COLDTRACE_HOOK_NOT_FOUND, /* what was looked for is not in the table: do not hook */
  COLDTRACE_HOOK_AMBIGUOUS, /* more than one thing has this name, hash or symbol file */
  COLDTRACE_HOOK_BAD_ARGUMENT,
  COLDTRACE_HOOK_NOT_A_TABLE, /* the first bytes are not those of a table */
  COLDTRACE_HOOK_UNSUPPORTED, /* of another version, or with a part that readers must know */
  COLDTRACE_HOOK_TRUNCATED,   /* fewer or more bytes than the table says it has */
  COLDTRACE_HOOK_BAD_CRC,
  COLDTRACE_HOOK_DAMAGED /* something in the table leads outside it */
} coldtrace_hook_status;

enum coldtrace_hook_role {
  COLDTRACE_HOOK_KERNEL,
  COLDTRACE_HOOK_NTDLL,
  COLDTRACE_HOOK_WIN32U,
  COLDTRACE_HOOK_WIN32K,
  COLDTRACE_HOOK_WIN32KBASE,
  COLDTRACE_HOOK_WIN32KFULL,
  COLDTRACE_HOOK_NO_IMAGE = 0xff
};

enum coldtrace_hook_confidence { COLDTRACE_HOOK_LOW, COLDTRACE_HOOK_MEDIUM, COLDTRACE_HOOK_HIGH };

enum coldtrace_hook_method {
  COLDTRACE_HOOK_ENTRY_JUMP,
  COLDTRACE_HOOK_HOT_PATCH,
  COLDTRACE_HOOK_INNER_JUMP,
  COLDTRACE_HOOK_CALL_SITES
};

/* Bit 0 of most flags: seen in real files. The other bits are defined beside the structures. */
#define COLDTRACE_HOOK_VERIFIED 1U

enum coldtrace_hook_section_index {
  COLDTRACE_HOOK_IMAGES,
  COLDTRACE_HOOK_BUILDS,
  COLDTRACE_HOOK_SERVICES,
  COLDTRACE_HOOK_NAMES,
  COLDTRACE_HOOK_SERVICE_TABLES,
  COLDTRACE_HOOK_TABLE_ENTRIES,
  COLDTRACE_HOOK_SERVICES_TABS,
  COLDTRACE_HOOK_TAB_ENTRIES,
  COLDTRACE_HOOK_SWITCHES,
  COLDTRACE_HOOK_CALLS,
  COLDTRACE_HOOK_INSTRUCTIONS,
  COLDTRACE_HOOK_BRANCHES,
  COLDTRACE_HOOK_OPTIONS,
  COLDTRACE_HOOK_FIELDS,
  COLDTRACE_HOOK_INTERFACES,
  COLDTRACE_HOOK_WORDS,
  COLDTRACE_HOOK_BYTES,
  COLDTRACE_HOOK_TEXTS,
  COLDTRACE_HOOK_TRACE_POINTS, /* since version 1.1, and only where there are any */
  COLDTRACE_HOOK_MEMBERS,      /* since version 1.2, the same */
  COLDTRACE_HOOK_SECTIONS
};

struct coldtrace_hook_section {
  coldtrace_u32 offset;
  coldtrace_u32 record_size;
  coldtrace_u32 count;
};

/* An open table. Do not change its members. */
struct coldtrace_hook_table {
  const coldtrace_u8* bytes;
  coldtrace_u32 size;
  struct coldtrace_hook_section sections[COLDTRACE_HOOK_SECTIONS];
};

/* Records of a section; the index in coldtrace_hook_get_... goes from 0 to count - 1. */
struct coldtrace_hook_range {
  coldtrace_u32 first;
  coldtrace_u32 count;
};

/* From the headers of a kernel: all four must match those in the table. */
struct coldtrace_hook_identity {
  coldtrace_u32 time_date_stamp;
  coldtrace_u32 size_of_image;
  coldtrace_u32 checksum;
  coldtrace_u32 machine;
};

struct coldtrace_hook_build {
  struct coldtrace_hook_range images;
  struct coldtrace_hook_range services;
  struct coldtrace_hook_range names;
  struct coldtrace_hook_range service_tables;
  struct coldtrace_hook_range services_tabs; /* one or none */
  struct coldtrace_hook_range switches;      /* each has the condition for hooking it */
  struct coldtrace_hook_range reasons;       /* texts: why SwapContext is nowhere, or not unique */
  struct coldtrace_hook_range fields;
  struct coldtrace_hook_range interfaces;
  struct coldtrace_hook_range trace_points;
  struct coldtrace_hook_range members;
};

#define COLDTRACE_HOOK_IMAGE_WINE 1U
#define COLDTRACE_HOOK_IMAGE_PDB 2U
#define COLDTRACE_HOOK_IMAGE_PDB_GUID 4U
#define COLDTRACE_HOOK_IMAGE_PDB_STAMP 8U
#define COLDTRACE_HOOK_IMAGE_SHA256 16U

struct coldtrace_hook_image {
  struct coldtrace_hook_identity identity;
  coldtrace_u32 role;
  coldtrace_u32 flags;
  const char* name;
  const char* file_version; /* a null pointer: none */
  const char* pdb_name;
  coldtrace_u32 pdb_age;
  coldtrace_u32 pdb_time_date_stamp;
  const coldtrace_u8* pdb_guid; /* 16 bytes as stored in the image */
  const coldtrace_u8* sha256;   /* 32 bytes */
};

#define COLDTRACE_HOOK_SERVICE_NAME_HASH 2U

struct coldtrace_hook_service {
  coldtrace_u32 number;
  coldtrace_u32 table; /* 0 nt, 1 win32k */
  coldtrace_u32 confidence;
  coldtrace_u32 image; /* a role: the image that the RVA `target` is in */
  coldtrace_u32 flags;
  coldtrace_u32 target;
  coldtrace_u32 argument_bytes;
  coldtrace_u32 stack_argument_bytes;
  coldtrace_u32 name_hash;
  struct coldtrace_hook_range names; /* texts */
  struct coldtrace_hook_range evidence;
};

struct coldtrace_hook_service_table {
  coldtrace_u32 image;
  coldtrace_u32 table;
  coldtrace_u32 form; /* 0 va32, 1 va64, 2 rva32 */
  coldtrace_u32 confidence;
  coldtrace_u32 flags;
  const char* name;
  coldtrace_u32 rva;
  coldtrace_u64 file_offset;
  coldtrace_u64 address;
  struct coldtrace_hook_range entries;
  coldtrace_u32 limit;
  coldtrace_u32 arguments;
  coldtrace_u32 descriptor;
  struct coldtrace_hook_range evidence;
};

struct coldtrace_hook_table_entry {
  coldtrace_u32 target;
  coldtrace_u32 argument_bytes;
  const char* import_module; /* if the target jumps through an import; else empty */
  const char* import_name;
};

struct coldtrace_hook_services_tab {
  coldtrace_u32 confidence;
  coldtrace_u32 flags;
  coldtrace_u32 rva;
  coldtrace_u64 file_offset;
  coldtrace_u64 address;
  struct coldtrace_hook_range entries;
  struct coldtrace_hook_range evidence;
};

struct coldtrace_hook_tab_entry {
  coldtrace_u32 hash;
  coldtrace_u32 argument_count;
  coldtrace_u32 target;
  const char* name;
  struct coldtrace_hook_range numbers; /* words */
};

/* When the kernel switches threads at a place. Windows 7 has two whole context switches. Under
   Hyper-V it writes EB F9, a short jump, over the first two bytes of SwapContext. That leads to a
   long jump in the five bytes before it, and this to EnlightenedSwapContext. */
enum coldtrace_hook_condition {
  COLDTRACE_HOOK_CONDITION_UNKNOWN, /* also in tables of earlier versions of coldtrace */
  COLDTRACE_HOOK_ALWAYS,
  COLDTRACE_HOOK_UNLESS_PATCHED, /* its first bytes in memory are not EB F9 */
  COLDTRACE_HOOK_WHEN_PATCHED    /* those of the other are, and the jump before it leads here */
};

#define COLDTRACE_HOOK_SWITCH_SELF_PATCHED 2U
#define COLDTRACE_HOOK_SWITCH_WRITABLE_MAPPING 4U /* a patch needs one */

struct coldtrace_hook_switch {
  coldtrace_u32 confidence;
  coldtrace_u32 condition; /* coldtrace_hook_check_switch says whether it holds */
  coldtrace_u32 flags;
  const char* name;
  coldtrace_u32 rva;
  coldtrace_u64 file_offset;
  coldtrace_u64 address;
  struct coldtrace_hook_range first_bytes; /* to compare with memory before anything is patched */
  coldtrace_u32 end;
  coldtrace_u32 kernel_stack_offset;
  coldtrace_u32 padding_before;
  struct coldtrace_hook_range callers;
  struct coldtrace_hook_range instructions;
  struct coldtrace_hook_range incoming;
  struct coldtrace_hook_range options;
  struct coldtrace_hook_range notes; /* texts: what holds for all options */
  struct coldtrace_hook_range evidence;
};

struct coldtrace_hook_call {
  coldtrace_u32 rva;
  coldtrace_u32 function;
  const char* name;
};

#define COLDTRACE_HOOK_INSTRUCTION_GROWS 1U

struct coldtrace_hook_instruction {
  coldtrace_u32 rva;
  coldtrace_u32 length;
  coldtrace_u32 flags;
  struct coldtrace_hook_range bytes;
  const char* text;
  coldtrace_u32 relative_target;
};

#define COLDTRACE_HOOK_BRANCH_OUTSIDE 1U /* of another function */
#define COLDTRACE_HOOK_BRANCH_PROVEN 2U

struct coldtrace_hook_branch {
  coldtrace_u32 from;
  coldtrace_u32 to;
  coldtrace_u32 flags;
  const char* text;
};

#define COLDTRACE_HOOK_OPTION_SAFE 1U

struct coldtrace_hook_option {
  coldtrace_u32 method;
  coldtrace_u32 flags;
  coldtrace_u32 written;
  coldtrace_u32 copied;
  struct coldtrace_hook_range sites;   /* words */
  struct coldtrace_hook_range reasons; /* texts */
};

struct coldtrace_hook_field {
  coldtrace_u32 confidence;
  coldtrace_u32 flags;
  const char* structure;
  const char* field;
  coldtrace_u32 offset;
  struct coldtrace_hook_range evidence;
};

#define COLDTRACE_HOOK_INTERFACE_EXPORTED 1U
#define COLDTRACE_HOOK_INTERFACE_IMPORTED 2U /* from a module that may be absent */

struct coldtrace_hook_interface {
  coldtrace_u32 flags;
  const char* name;
  const char* purpose;
  const char* note;
  coldtrace_u32 rva;
};

enum coldtrace_hook_member_kind {
  COLDTRACE_HOOK_MEMBER_OFFSET,   /* bytes from the start of the structure */
  COLDTRACE_HOOK_MEMBER_BIT,      /* the lowest bit of a bit field */
  COLDTRACE_HOOK_MEMBER_SIZE,     /* bytes */
  COLDTRACE_HOOK_MEMBER_GLOBAL,   /* an RVA */
  COLDTRACE_HOOK_MEMBER_FUNCTION, /* an RVA */
  COLDTRACE_HOOK_MEMBER_CONSTANT
};

/* Without this flag there is no value. */
#define COLDTRACE_HOOK_MEMBER_FOUND 1U
#define COLDTRACE_HOOK_MEMBER_OPTIONAL 2U
#define COLDTRACE_HOOK_MEMBER_FROM_PDB 4U
#define COLDTRACE_HOOK_MEMBER_FROM_CODE 8U
#define COLDTRACE_HOOK_MEMBER_NEGATIVE 16U    /* of 64 bits, in two's complement */
#define COLDTRACE_HOOK_MEMBER_INFERRED 32U    /* from another build: see its evidence */
#define COLDTRACE_HOOK_MEMBER_ENUMERATION 64U /* the size of one; older tables do not say so */
#define COLDTRACE_HOOK_NO_BITS 0xffU

struct coldtrace_hook_member {
  coldtrace_u32 kind;
  coldtrace_u32 confidence;
  coldtrace_u32 bit_position; /* of a bit field, else COLDTRACE_HOOK_NO_BITS */
  coldtrace_u32 bit_length;
  coldtrace_u32 flags;
  const char* name;
  const char* expression; /* what the build calls it */
  coldtrace_u64 value;
  coldtrace_u32 size;   /* of a member or a function */
  const char* evidence; /* sentences, one per line */
};

/* What a trace point writes over the first byte of its instruction: INT 3. */
#define COLDTRACE_HOOK_TRACE_BYTE 0xccU

/* What determines the place of a trace point. */
enum coldtrace_hook_place_source {
  COLDTRACE_HOOK_PLACE_NONE, /* nothing: there is no RVA */
  COLDTRACE_HOOK_PLACE_RVA,
  COLDTRACE_HOOK_PLACE_EXPORT,
  COLDTRACE_HOOK_PLACE_SYMBOL,
  COLDTRACE_HOOK_PLACE_SERVICE_TABLE,
  COLDTRACE_HOOK_PLACE_SIGNATURE,
  COLDTRACE_HOOK_PLACE_STRUCTURE
};

enum coldtrace_hook_boundary {
  COLDTRACE_HOOK_BOUNDARY_UNKNOWN,
  COLDTRACE_HOOK_BOUNDARY_PROVEN,
  COLDTRACE_HOOK_BOUNDARY_REFUTED
};

enum coldtrace_hook_flow {
  COLDTRACE_HOOK_FLOW_NEXT,
  COLDTRACE_HOOK_FLOW_CONDITIONAL,
  COLDTRACE_HOOK_FLOW_JUMP,
  COLDTRACE_HOOK_FLOW_CALL,
  COLDTRACE_HOOK_FLOW_RETURN
};

/* Why a trace point is refused; docs/commands/trace-points.md has more. */
enum coldtrace_hook_refusal {
  COLDTRACE_HOOK_REFUSED_INIT,
  COLDTRACE_HOOK_REFUSED_KVASCODE,
  COLDTRACE_HOOK_REFUSED_DISCARDABLE,
  COLDTRACE_HOOK_REFUSED_DUPLICATE_ADDRESS,
  COLDTRACE_HOOK_REFUSED_DUPLICATE_FUNCTION,
  COLDTRACE_HOOK_REFUSED_NOT_FOUND,
  COLDTRACE_HOOK_REFUSED_AMBIGUOUS,
  COLDTRACE_HOOK_REFUSED_FORWARDED,
  COLDTRACE_HOOK_REFUSED_OUTSIDE,
  COLDTRACE_HOOK_REFUSED_NOT_EXECUTABLE,
  COLDTRACE_HOOK_REFUSED_NOT_STORED,
  COLDTRACE_HOOK_REFUSED_NOT_A_BOUNDARY,
  COLDTRACE_HOOK_REFUSED_NO_INSTRUCTION,
  COLDTRACE_HOOK_REFUSED_BREAKPOINT,
  COLDTRACE_HOOK_REFUSED_MACHINE
};

#define COLDTRACE_HOOK_TRACE_RIP_RELATIVE 1U
#define COLDTRACE_HOOK_TRACE_READS_MEMORY 2U
#define COLDTRACE_HOOK_TRACE_WRITES_MEMORY 4U
#define COLDTRACE_HOOK_TRACE_MOVES_STACK 8U
#define COLDTRACE_HOOK_TRACE_PRIVILEGED 16U

struct coldtrace_hook_trace_point {
  coldtrace_u32 source;
  coldtrace_u32 boundary;
  coldtrace_u32 flow;     /* of the instruction */
  coldtrace_u32 emulator; /* 1: that of Windows 10 1903 is known to execute the instruction */
  coldtrace_u32 flags;
  coldtrace_u32 rva;
  coldtrace_u64 file_offset;
  coldtrace_u64 address;
  coldtrace_u32 function; /* start of the one that contains the place */
  const char* requested;
  const char* function_name; /* may be empty */
  const char* section;
  struct coldtrace_hook_range names; /* texts: exports and symbols of this place */
  struct coldtrace_hook_range bytes; /* of the instruction: compare with memory before patching */
  coldtrace_u32 prefix_bytes;
  const char* text;
  const char* mnemonic;
  const char* category;
  coldtrace_u32 target;                    /* of a branch, or of RIP-relative memory */
  struct coldtrace_hook_range relocations; /* words: RVAs in the instruction */
  struct coldtrace_hook_range refusals;    /* words: none if a trace point may be set */
  struct coldtrace_hook_range reasons;     /* texts: one for each refusal */
  struct coldtrace_hook_range evidence;    /* texts: for `boundary` */
};

#endif

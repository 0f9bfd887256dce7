/* Opens a binary hook table of coldtrace and finds a build in it; hook_table.h includes this. */
#ifndef COLDTRACE_HOOK_TABLE_OPEN_H
#define COLDTRACE_HOOK_TABLE_OPEN_H

#include <stddef.h>

#include "hook_table_types.h"

#if !defined(COLDTRACE_HOOK_FUNCTION)
#if defined(__GNUC__)
#define COLDTRACE_HOOK_FUNCTION static __attribute__((unused))
#elif defined(_MSC_VER)
#define COLDTRACE_HOOK_FUNCTION static __inline
#else
#define COLDTRACE_HOOK_FUNCTION static
#endif
#endif

/* ---- Building blocks of the functions below. */

COLDTRACE_HOOK_FUNCTION coldtrace_u32 coldtrace_hook_load16(const coldtrace_u8* bytes) {
  return (coldtrace_u32)bytes[0] | (coldtrace_u32)bytes[1] << 8;
}

COLDTRACE_HOOK_FUNCTION coldtrace_u32 coldtrace_hook_load32(const coldtrace_u8* bytes) {
  return coldtrace_hook_load16(bytes) | coldtrace_hook_load16(bytes + 2) << 16;
}

COLDTRACE_HOOK_FUNCTION coldtrace_u64 coldtrace_hook_load64(const coldtrace_u8* bytes) {
  return (coldtrace_u64)coldtrace_hook_load32(bytes) |
         (coldtrace_u64)coldtrace_hook_load32(bytes + 4) << 32;
}

COLDTRACE_HOOK_FUNCTION struct coldtrace_hook_range coldtrace_hook_load_range(
    const coldtrace_u8* bytes) {
  struct coldtrace_hook_range range;
  range.first = coldtrace_hook_load32(bytes);
  range.count = coldtrace_hook_load32(bytes + 4);
  return range;
}

/* CRC-32C (RFC 3720), four bits at a time. */
COLDTRACE_HOOK_FUNCTION coldtrace_u32 coldtrace_hook_crc32c(const coldtrace_u8* bytes,
                                                            coldtrace_u32 count,
                                                            coldtrace_u32 before) {
  static const coldtrace_u32 table[16] = {0x00000000U, 0x105ec76fU, 0x20bd8edeU, 0x30e349b1U,
                                          0x417b1dbcU, 0x5125dad3U, 0x61c69362U, 0x7198540dU,
                                          0x82f63b78U, 0x92a8fc17U, 0xa24bb5a6U, 0xb21572c9U,
                                          0xc38d26c4U, 0xd3d3e1abU, 0xe330a81aU, 0xf36e6f75U};
  coldtrace_u32 crc = ~before;
  coldtrace_u32 i;
  for (i = 0; i < count; ++i) {
    crc ^= bytes[i];
    crc = crc >> 4 ^ table[crc & 15];
    crc = crc >> 4 ^ table[crc & 15];
  }
  return ~crc;
}

/* The record `index` of a range, or a null pointer. Opening the table checked that its sections lie
   inside it, so no sum or product below can wrap. */
COLDTRACE_HOOK_FUNCTION const coldtrace_u8* coldtrace_hook_record(
    const struct coldtrace_hook_table* table, int section, struct coldtrace_hook_range range,
    coldtrace_u32 index) {
  const struct coldtrace_hook_section* records = &table->sections[section];
  if (range.first > records->count || range.count > records->count - range.first) return NULL;
  if (index >= range.count) return NULL;
  return table->bytes + records->offset + (range.first + index) * records->record_size;
}

COLDTRACE_HOOK_FUNCTION coldtrace_hook_status
coldtrace_hook_missing(struct coldtrace_hook_range range, coldtrace_u32 index) {
  return index < range.count ? COLDTRACE_HOOK_DAMAGED : COLDTRACE_HOOK_NOT_FOUND;
}

/* The text at an offset of the pool, or a null pointer. The pool ends with a zero. */
COLDTRACE_HOOK_FUNCTION const char* coldtrace_hook_pool_text(
    const struct coldtrace_hook_table* table, coldtrace_u32 offset) {
  const struct coldtrace_hook_section* pool = &table->sections[COLDTRACE_HOOK_TEXTS];
  if (offset >= pool->count) return NULL;
  return (const char*)(const void*)(table->bytes + pool->offset + offset);
}

COLDTRACE_HOOK_FUNCTION const char* coldtrace_hook_load_text(
    const struct coldtrace_hook_table* table, const coldtrace_u8* bytes) {
  return coldtrace_hook_pool_text(table, coldtrace_hook_load32(bytes));
}

COLDTRACE_HOOK_FUNCTION int coldtrace_hook_same_text(const char* a, const char* b) {
  if (a == NULL || b == NULL) return 0;
  while (*a != 0 && *a == *b) {
    ++a;
    ++b;
  }
  return *a == *b;
}

/* NtX and ZwX become X; a name that continues in lower case has no prefix. */
COLDTRACE_HOOK_FUNCTION const char* coldtrace_hook_hashed_name(const char* name) {
  if (((name[0] == 'N' && name[1] == 't') || (name[0] == 'Z' && name[1] == 'w')) &&
      name[2] >= 'A' && name[2] <= 'Z')
    return name + 2;
  return name;
}

/* ---- Opening a table and finding the running kernel's build in it. */

COLDTRACE_HOOK_FUNCTION const char* coldtrace_hook_status_text(coldtrace_hook_status status) {
  switch (status) {
    case COLDTRACE_HOOK_OK:
      return "found";
    case COLDTRACE_HOOK_NOT_FOUND:
      return "not in the table";
    case COLDTRACE_HOOK_AMBIGUOUS:
      return "in the table more than once";
    case COLDTRACE_HOOK_BAD_ARGUMENT:
      return "not a usable argument";
    case COLDTRACE_HOOK_NOT_A_TABLE:
      return "not a hook table";
    case COLDTRACE_HOOK_UNSUPPORTED:
      return "a hook table of another version, or with a part that this reader must know and does "
             "not";
    case COLDTRACE_HOOK_TRUNCATED:
      return "not as many bytes as the hook table says";
    case COLDTRACE_HOOK_BAD_CRC:
      return "a hook table whose checksum is wrong";
    case COLDTRACE_HOOK_DAMAGED:
      return "a damaged hook table";
  }
  return "unknown status";
}

/* Reads one entry of the section table. */
COLDTRACE_HOOK_FUNCTION coldtrace_hook_status
coldtrace_hook_open_section(struct coldtrace_hook_table* table, const coldtrace_u8* entry) {
  static const char tags[COLDTRACE_HOOK_SECTIONS][5] = {
      "IMGS", "BLDS", "SVCS", "NAME", "STBL", "STEN", "STAB", "STRC", "CSWT", "CALL",
      "INSN", "BRNC", "OPTN", "FLDS", "INTF", "WORD", "BYTE", "TEXT", "TPNT", "MEMB"};
  static const coldtrace_u8 sizes[COLDTRACE_HOOK_SECTIONS] = {
      88, 72, 44, 12, 60, 16, 44, 24, 100, 12, 28, 16, 32, 28, 20, 4, 1, 1, 112, 32};
  coldtrace_u32 offset = coldtrace_hook_load32(entry + 8);
  coldtrace_u32 record_size = coldtrace_hook_load32(entry + 12);
  coldtrace_u32 count = coldtrace_hook_load32(entry + 16);
  int i;
  if (offset > table->size) return COLDTRACE_HOOK_DAMAGED;
  if (record_size == 0 || count > (table->size - offset) / record_size)
    return COLDTRACE_HOOK_DAMAGED;
  for (i = 0; i < COLDTRACE_HOOK_SECTIONS; ++i) {
    if (entry[0] != (coldtrace_u8)tags[i][0] || entry[1] != (coldtrace_u8)tags[i][1] ||
        entry[2] != (coldtrace_u8)tags[i][2] || entry[3] != (coldtrace_u8)tags[i][3])
      continue;
    if (table->sections[i].record_size != 0) return COLDTRACE_HOOK_DAMAGED;
    if (record_size < sizes[i]) return COLDTRACE_HOOK_DAMAGED;
    if (sizes[i] == 1 && record_size != 1) return COLDTRACE_HOOK_DAMAGED;
    table->sections[i].offset = offset;
    table->sections[i].record_size = record_size;
    table->sections[i].count = count;
    return COLDTRACE_HOOK_OK;
  }
  return (coldtrace_hook_load32(entry + 4) & 1) != 0 ? COLDTRACE_HOOK_UNSUPPORTED
                                                     : COLDTRACE_HOOK_OK;
}

/* Checks the header, the CRC and the sections of a table of `size` bytes. */
COLDTRACE_HOOK_FUNCTION coldtrace_hook_status
coldtrace_hook_open(struct coldtrace_hook_table* table, const void* memory, size_t size) {
  static const coldtrace_u8 magic[8] = {'H', 'O', 'O', 'K', 'T', 'A', 'B', 0x1a};
  static const coldtrace_u8 zeros[4] = {0, 0, 0, 0};
  const coldtrace_u8* bytes = (const coldtrace_u8*)memory;
  coldtrace_u32 offset, count, crc, i;
  coldtrace_hook_status status;
  if (table == NULL || memory == NULL) return COLDTRACE_HOOK_BAD_ARGUMENT;
  for (i = 0; i < 8; ++i)
    if (i >= size || bytes[i] != magic[i]) return COLDTRACE_HOOK_NOT_A_TABLE;
  if (size < 32 || (coldtrace_u32)size != size) return COLDTRACE_HOOK_TRUNCATED;
  if (coldtrace_hook_load16(bytes + 8) != COLDTRACE_HOOK_MAJOR_VERSION)
    return COLDTRACE_HOOK_UNSUPPORTED;
  if (coldtrace_hook_load32(bytes + 12) != size) return COLDTRACE_HOOK_TRUNCATED;
  table->bytes = bytes;
  table->size = (coldtrace_u32)size;
  crc = coldtrace_hook_crc32c(bytes, 16, 0);
  crc = coldtrace_hook_crc32c(zeros, 4, crc);
  crc = coldtrace_hook_crc32c(bytes + 20, table->size - 20, crc);
  if (crc != coldtrace_hook_load32(bytes + 16)) return COLDTRACE_HOOK_BAD_CRC;
  count = coldtrace_hook_load32(bytes + 20);
  offset = coldtrace_hook_load32(bytes + 24);
  if (offset > table->size || count > (table->size - offset) / 20) return COLDTRACE_HOOK_DAMAGED;
  for (i = 0; i < COLDTRACE_HOOK_SECTIONS; ++i) {
    table->sections[i].offset = 0;
    table->sections[i].record_size = 0;
    table->sections[i].count = 0;
  }
  for (i = 0; i < count; ++i) {
    status = coldtrace_hook_open_section(table, bytes + offset + i * 20);
    if (status != COLDTRACE_HOOK_OK) return status;
  }
  for (i = 0; i < COLDTRACE_HOOK_TRACE_POINTS; ++i)
    if (table->sections[i].record_size == 0) return COLDTRACE_HOOK_DAMAGED;
  offset = table->sections[COLDTRACE_HOOK_TEXTS].offset;
  count = table->sections[COLDTRACE_HOOK_TEXTS].count;
  if (count == 0 || bytes[offset + count - 1] != 0) return COLDTRACE_HOOK_DAMAGED;
  return COLDTRACE_HOOK_OK;
}

/* The identity in the headers of an image that is loaded in memory, where `readable` bytes from its
   base may be read. */
COLDTRACE_HOOK_FUNCTION coldtrace_hook_status coldtrace_hook_read_identity(
    const void* base, size_t readable, struct coldtrace_hook_identity* identity) {
  const coldtrace_u8* bytes = (const coldtrace_u8*)base;
  coldtrace_u32 at;
  if (base == NULL || identity == NULL) return COLDTRACE_HOOK_BAD_ARGUMENT;
  if (readable < 64 || bytes[0] != 'M' || bytes[1] != 'Z') return COLDTRACE_HOOK_BAD_ARGUMENT;
  at = coldtrace_hook_load32(bytes + 60);
  /* Up to CheckSum, which ends 92 bytes after the start of the signature. */
  if (at > readable || readable - at < 92) return COLDTRACE_HOOK_BAD_ARGUMENT;
  bytes += at;
  if (coldtrace_hook_load32(bytes) != 0x4550) return COLDTRACE_HOOK_BAD_ARGUMENT;
  identity->machine = coldtrace_hook_load16(bytes + 4);
  identity->time_date_stamp = coldtrace_hook_load32(bytes + 8);
  identity->size_of_image = coldtrace_hook_load32(bytes + 80);
  identity->checksum = coldtrace_hook_load32(bytes + 88);
  return COLDTRACE_HOOK_OK;
}

COLDTRACE_HOOK_FUNCTION coldtrace_u32
coldtrace_hook_count_builds(const struct coldtrace_hook_table* table) {
  return table->sections[COLDTRACE_HOOK_BUILDS].count;
}

COLDTRACE_HOOK_FUNCTION coldtrace_hook_status
coldtrace_hook_get_build(const struct coldtrace_hook_table* table, coldtrace_u32 index,
                         struct coldtrace_hook_build* build) {
  struct coldtrace_hook_range all;
  const coldtrace_u8* record;
  all.first = 0;
  all.count = coldtrace_hook_count_builds(table);
  record = coldtrace_hook_record(table, COLDTRACE_HOOK_BUILDS, all, index);
  if (record == NULL) return COLDTRACE_HOOK_NOT_FOUND;
  build->images = coldtrace_hook_load_range(record);
  build->services = coldtrace_hook_load_range(record + 8);
  build->names = coldtrace_hook_load_range(record + 16);
  build->service_tables = coldtrace_hook_load_range(record + 24);
  build->services_tabs = coldtrace_hook_load_range(record + 32);
  build->switches = coldtrace_hook_load_range(record + 40);
  build->reasons = coldtrace_hook_load_range(record + 48);
  build->fields = coldtrace_hook_load_range(record + 56);
  build->interfaces = coldtrace_hook_load_range(record + 64);
  build->trace_points.first = 0;
  build->trace_points.count = 0;
  if (table->sections[COLDTRACE_HOOK_BUILDS].record_size >= 80)
    build->trace_points = coldtrace_hook_load_range(record + 72);
  build->members.first = 0;
  build->members.count = 0;
  if (table->sections[COLDTRACE_HOOK_BUILDS].record_size >= 88)
    build->members = coldtrace_hook_load_range(record + 80);
  return COLDTRACE_HOOK_OK;
}

/* Images are in the order of their roles: the kernel is number 0. */
COLDTRACE_HOOK_FUNCTION coldtrace_hook_status coldtrace_hook_get_image(
    const struct coldtrace_hook_table* table, const struct coldtrace_hook_build* build,
    coldtrace_u32 index, struct coldtrace_hook_image* image) {
  const coldtrace_u8* record =
      coldtrace_hook_record(table, COLDTRACE_HOOK_IMAGES, build->images, index);
  if (record == NULL) return coldtrace_hook_missing(build->images, index);
  image->role = record[0];
  image->identity.machine = coldtrace_hook_load16(record + 2);
  image->flags = coldtrace_hook_load32(record + 4);
  image->identity.time_date_stamp = coldtrace_hook_load32(record + 8);
  image->identity.size_of_image = coldtrace_hook_load32(record + 12);
  image->identity.checksum = coldtrace_hook_load32(record + 16);
  image->name = coldtrace_hook_load_text(table, record + 20);
  image->file_version = coldtrace_hook_load_text(table, record + 24);
  image->pdb_name = coldtrace_hook_load_text(table, record + 28);
  image->pdb_age = coldtrace_hook_load32(record + 32);
  image->pdb_time_date_stamp = coldtrace_hook_load32(record + 36);
  image->pdb_guid = record + 40;
  image->sha256 = record + 56;
  return COLDTRACE_HOOK_OK;
}

/* Negative, 0 or positive if `a` sorts before `b`, equals it, or sorts after it. */
COLDTRACE_HOOK_FUNCTION int coldtrace_hook_compare_identity(
    const struct coldtrace_hook_identity* a, const struct coldtrace_hook_identity* b) {
  if (a->time_date_stamp != b->time_date_stamp)
    return a->time_date_stamp < b->time_date_stamp ? -1 : 1;
  if (a->size_of_image != b->size_of_image) return a->size_of_image < b->size_of_image ? -1 : 1;
  if (a->checksum != b->checksum) return a->checksum < b->checksum ? -1 : 1;
  if (a->machine != b->machine) return a->machine < b->machine ? -1 : 1;
  return 0;
}

/* The build whose kernel has exactly this identity. Anything else is COLDTRACE_HOOK_NOT_FOUND:
   there is no nearest build. */
COLDTRACE_HOOK_FUNCTION coldtrace_hook_status coldtrace_hook_find_build(
    const struct coldtrace_hook_table* table, const struct coldtrace_hook_identity* running,
    struct coldtrace_hook_build* build) {
  coldtrace_u32 low = 0;
  coldtrace_u32 high = coldtrace_hook_count_builds(table);
  struct coldtrace_hook_image kernel;
  while (low < high) {
    coldtrace_u32 middle = low + (high - low) / 2;
    coldtrace_hook_status status = coldtrace_hook_get_build(table, middle, build);
    int order;
    if (status == COLDTRACE_HOOK_OK) status = coldtrace_hook_get_image(table, build, 0, &kernel);
    if (status != COLDTRACE_HOOK_OK || kernel.role != COLDTRACE_HOOK_KERNEL)
      return COLDTRACE_HOOK_DAMAGED;
    order = coldtrace_hook_compare_identity(&kernel.identity, running);
    if (order == 0) return COLDTRACE_HOOK_OK;
    if (order < 0)
      low = middle + 1;
    else
      high = middle;
  }
  return COLDTRACE_HOOK_NOT_FOUND;
}

/* The build whose kernel names the symbol file with this GUID (16 bytes as stored) and age. */
COLDTRACE_HOOK_FUNCTION coldtrace_hook_status
coldtrace_hook_find_build_by_pdb(const struct coldtrace_hook_table* table, const coldtrace_u8* guid,
                                 coldtrace_u32 age, struct coldtrace_hook_build* build) {
  coldtrace_u32 found = COLDTRACE_HOOK_ABSENT;
  coldtrace_u32 i, j;
  struct coldtrace_hook_image kernel;
  for (i = 0; i < coldtrace_hook_count_builds(table); ++i) {
    if (coldtrace_hook_get_build(table, i, build) != COLDTRACE_HOOK_OK ||
        coldtrace_hook_get_image(table, build, 0, &kernel) != COLDTRACE_HOOK_OK ||
        kernel.role != COLDTRACE_HOOK_KERNEL)
      return COLDTRACE_HOOK_DAMAGED;
    if ((kernel.flags & COLDTRACE_HOOK_IMAGE_PDB_GUID) == 0 || kernel.pdb_age != age) continue;
    for (j = 0; j < 16 && kernel.pdb_guid[j] == guid[j]; ++j) continue;
    if (j < 16) continue;
    if (found != COLDTRACE_HOOK_ABSENT) return COLDTRACE_HOOK_AMBIGUOUS;
    found = i;
  }
  return found == COLDTRACE_HOOK_ABSENT ? COLDTRACE_HOOK_NOT_FOUND
                                        : coldtrace_hook_get_build(table, found, build);
}

/* ---- Lists of a build's records: texts, words and bytes. */

/* The text at `index` of a range of texts (names, evidence, reasons), or a null pointer. */
COLDTRACE_HOOK_FUNCTION const char* coldtrace_hook_get_text(
    const struct coldtrace_hook_table* table, struct coldtrace_hook_range texts,
    coldtrace_u32 index) {
  const coldtrace_u8* record = coldtrace_hook_record(table, COLDTRACE_HOOK_WORDS, texts, index);
  return record == NULL ? NULL : coldtrace_hook_load_text(table, record);
}

COLDTRACE_HOOK_FUNCTION coldtrace_hook_status
coldtrace_hook_get_word(const struct coldtrace_hook_table* table, struct coldtrace_hook_range words,
                        coldtrace_u32 index, coldtrace_u32* word) {
  const coldtrace_u8* record = coldtrace_hook_record(table, COLDTRACE_HOOK_WORDS, words, index);
  if (record == NULL) return coldtrace_hook_missing(words, index);
  *word = coldtrace_hook_load32(record);
  return COLDTRACE_HOOK_OK;
}

/* All bytes of a range, which are contiguous; a null pointer if there are none. */
COLDTRACE_HOOK_FUNCTION const coldtrace_u8* coldtrace_hook_get_bytes(
    const struct coldtrace_hook_table* table, struct coldtrace_hook_range bytes) {
  return coldtrace_hook_record(table, COLDTRACE_HOOK_BYTES, bytes, 0);
}

#endif

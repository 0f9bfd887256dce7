/* Reads a binary hook table (.hooktab) of coldtrace inside a driver.

   Freestanding C89 but for one block of 64-bit integers: no allocation, no library, no state, any
   IRQL at which the table itself may be read. Everything in a table is checked before it is used,
   so a damaged or hostile one gives an error, never a read outside it. All functions are static;
   include this file wherever they are needed.

     struct coldtrace_hook_table table;
     struct coldtrace_hook_identity running;
     struct coldtrace_hook_build build;
     if (coldtrace_hook_open(&table, bytes, size) != COLDTRACE_HOOK_OK) refuse;
     if (coldtrace_hook_read_identity(kernel_base, 4096, &running) != COLDTRACE_HOOK_OK) refuse;
     if (coldtrace_hook_find_build(&table, &running, &build) != COLDTRACE_HOOK_OK) refuse;

   The bytes must stay where they are while the table is in use. The format is described in
   docs/formats/hook-table-format.md, whose words this file uses. */
#ifndef COLDTRACE_HOOK_TABLE_H
#define COLDTRACE_HOOK_TABLE_H

#include "hook_table_open.h"

/* ---- Services. */

/* The service at `index` of the build's, which stand in the order of their numbers. */
COLDTRACE_HOOK_FUNCTION coldtrace_hook_status coldtrace_hook_get_service(
    const struct coldtrace_hook_table* table, const struct coldtrace_hook_build* build,
    coldtrace_u32 index, struct coldtrace_hook_service* service) {
  const coldtrace_u8* record =
      coldtrace_hook_record(table, COLDTRACE_HOOK_SERVICES, build->services, index);
  if (record == NULL) return coldtrace_hook_missing(build->services, index);
  service->number = coldtrace_hook_load16(record);
  service->table = record[2];
  service->confidence = record[3];
  service->image = record[4];
  service->flags = coldtrace_hook_load32(record + 8);
  service->target = coldtrace_hook_load32(record + 12);
  service->argument_bytes = coldtrace_hook_load32(record + 16);
  service->stack_argument_bytes = coldtrace_hook_load32(record + 20);
  service->name_hash = coldtrace_hook_load32(record + 24);
  service->names = coldtrace_hook_load_range(record + 28);
  service->evidence = coldtrace_hook_load_range(record + 36);
  return COLDTRACE_HOOK_OK;
}

/* The service with a number; bit 12 is set in those of win32k. */
COLDTRACE_HOOK_FUNCTION coldtrace_hook_status coldtrace_hook_find_service(
    const struct coldtrace_hook_table* table, const struct coldtrace_hook_build* build,
    coldtrace_u32 number, struct coldtrace_hook_service* service) {
  coldtrace_u32 low = 0;
  coldtrace_u32 high = build->services.count;
  while (low < high) {
    coldtrace_u32 middle = low + (high - low) / 2;
    coldtrace_hook_status status = coldtrace_hook_get_service(table, build, middle, service);
    if (status != COLDTRACE_HOOK_OK) return status;
    if (service->number == number) return COLDTRACE_HOOK_OK;
    if (service->number < number)
      low = middle + 1;
    else
      high = middle;
  }
  return COLDTRACE_HOOK_NOT_FOUND;
}

/* The hash under which Windows itself keeps service names since 10.0.18362; of NtX and ZwX it is
   that of X. */
COLDTRACE_HOOK_FUNCTION coldtrace_u32 coldtrace_hook_hash_name(const char* name) {
  coldtrace_u32 hash = 0;
  for (name = coldtrace_hook_hashed_name(name); *name != 0; ++name) {
    coldtrace_u32 character = (coldtrace_u32)(coldtrace_u8)*name;
    /* The kernel's characters are signed. */
    if (character >= 0x80) character |= 0xffffff00U;
    hash = 1025U * (hash + character);
    hash ^= hash >> 6;
  }
  return hash;
}

/* The first record of the name index whose hash is not below `hash`, in `*index`; the number of
   records where all are. */
COLDTRACE_HOOK_FUNCTION coldtrace_hook_status coldtrace_hook_lower_name(
    const struct coldtrace_hook_table* table, const struct coldtrace_hook_build* build,
    coldtrace_u32 hash, coldtrace_u32* index) {
  coldtrace_u32 low = 0;
  coldtrace_u32 high = build->names.count;
  while (low < high) {
    coldtrace_u32 middle = low + (high - low) / 2;
    const coldtrace_u8* record =
        coldtrace_hook_record(table, COLDTRACE_HOOK_NAMES, build->names, middle);
    if (record == NULL) return COLDTRACE_HOOK_DAMAGED;
    if (coldtrace_hook_load32(record) < hash)
      low = middle + 1;
    else
      high = middle;
  }
  *index = low;
  return COLDTRACE_HOOK_OK;
}

/* The service of a record of the name index whose hash is `hash` and, where `name` is not a null
   pointer, whose name is that. Two services that fit are COLDTRACE_HOOK_AMBIGUOUS. */
COLDTRACE_HOOK_FUNCTION coldtrace_hook_status coldtrace_hook_find_named(
    const struct coldtrace_hook_table* table, const struct coldtrace_hook_build* build,
    coldtrace_u32 hash, const char* name, struct coldtrace_hook_service* service) {
  coldtrace_u32 found = COLDTRACE_HOOK_ABSENT;
  coldtrace_u32 index;
  coldtrace_hook_status status = coldtrace_hook_lower_name(table, build, hash, &index);
  if (status != COLDTRACE_HOOK_OK) return status;
  for (; index < build->names.count; ++index) {
    const coldtrace_u8* record =
        coldtrace_hook_record(table, COLDTRACE_HOOK_NAMES, build->names, index);
    const char* text;
    coldtrace_u32 target;
    if (record == NULL) return COLDTRACE_HOOK_DAMAGED;
    if (coldtrace_hook_load32(record) != hash) break;
    target = coldtrace_hook_load32(record + 4);
    text = coldtrace_hook_load_text(table, record + 8);
    if (name != NULL &&
        (text == NULL || !coldtrace_hook_same_text(coldtrace_hook_hashed_name(text),
                                                   coldtrace_hook_hashed_name(name))))
      continue;
    if (found != COLDTRACE_HOOK_ABSENT && found != target) return COLDTRACE_HOOK_AMBIGUOUS;
    found = target;
  }
  if (found == COLDTRACE_HOOK_ABSENT) return COLDTRACE_HOOK_NOT_FOUND;
  status = coldtrace_hook_get_service(table, build, found, service);
  return status == COLDTRACE_HOOK_NOT_FOUND ? COLDTRACE_HOOK_DAMAGED : status;
}

COLDTRACE_HOOK_FUNCTION coldtrace_hook_status coldtrace_hook_find_service_by_hash(
    const struct coldtrace_hook_table* table, const struct coldtrace_hook_build* build,
    coldtrace_u32 hash, struct coldtrace_hook_service* service) {
  return coldtrace_hook_find_named(table, build, hash, NULL, service);
}

/* NtX and ZwX find the same service. */
COLDTRACE_HOOK_FUNCTION coldtrace_hook_status coldtrace_hook_find_service_by_name(
    const struct coldtrace_hook_table* table, const struct coldtrace_hook_build* build,
    const char* name, struct coldtrace_hook_service* service) {
  if (name == NULL) return COLDTRACE_HOOK_BAD_ARGUMENT;
  return coldtrace_hook_find_named(table, build, coldtrace_hook_hash_name(name), name, service);
}

/* ---- Service tables and KiServicesTab. */

COLDTRACE_HOOK_FUNCTION coldtrace_hook_status coldtrace_hook_get_service_table(
    const struct coldtrace_hook_table* table, const struct coldtrace_hook_build* build,
    coldtrace_u32 index, struct coldtrace_hook_service_table* located) {
  const coldtrace_u8* record =
      coldtrace_hook_record(table, COLDTRACE_HOOK_SERVICE_TABLES, build->service_tables, index);
  if (record == NULL) return coldtrace_hook_missing(build->service_tables, index);
  located->image = record[0];
  located->table = record[1];
  located->form = record[2];
  located->confidence = record[3];
  located->flags = coldtrace_hook_load32(record + 4);
  located->name = coldtrace_hook_load_text(table, record + 8);
  located->rva = coldtrace_hook_load32(record + 12);
  located->file_offset = coldtrace_hook_load64(record + 16);
  located->address = coldtrace_hook_load64(record + 24);
  located->entries = coldtrace_hook_load_range(record + 32);
  located->limit = coldtrace_hook_load32(record + 40);
  located->arguments = coldtrace_hook_load32(record + 44);
  located->descriptor = coldtrace_hook_load32(record + 48);
  located->evidence = coldtrace_hook_load_range(record + 52);
  return COLDTRACE_HOOK_OK;
}

COLDTRACE_HOOK_FUNCTION coldtrace_hook_status coldtrace_hook_get_table_entry(
    const struct coldtrace_hook_table* table, const struct coldtrace_hook_service_table* located,
    coldtrace_u32 index, struct coldtrace_hook_table_entry* entry) {
  const coldtrace_u8* record =
      coldtrace_hook_record(table, COLDTRACE_HOOK_TABLE_ENTRIES, located->entries, index);
  if (record == NULL) return coldtrace_hook_missing(located->entries, index);
  entry->target = coldtrace_hook_load32(record);
  entry->argument_bytes = coldtrace_hook_load32(record + 4);
  entry->import_module = coldtrace_hook_load_text(table, record + 8);
  entry->import_name = coldtrace_hook_load_text(table, record + 12);
  return COLDTRACE_HOOK_OK;
}

/* KiServicesTab, where the kernel has one and it was found. */
COLDTRACE_HOOK_FUNCTION coldtrace_hook_status coldtrace_hook_get_services_tab(
    const struct coldtrace_hook_table* table, const struct coldtrace_hook_build* build,
    struct coldtrace_hook_services_tab* tab) {
  const coldtrace_u8* record =
      coldtrace_hook_record(table, COLDTRACE_HOOK_SERVICES_TABS, build->services_tabs, 0);
  if (record == NULL) return coldtrace_hook_missing(build->services_tabs, 0);
  tab->confidence = record[0];
  tab->flags = coldtrace_hook_load32(record + 4);
  tab->rva = coldtrace_hook_load32(record + 8);
  tab->file_offset = coldtrace_hook_load64(record + 12);
  tab->address = coldtrace_hook_load64(record + 20);
  tab->entries = coldtrace_hook_load_range(record + 28);
  tab->evidence = coldtrace_hook_load_range(record + 36);
  return COLDTRACE_HOOK_OK;
}

COLDTRACE_HOOK_FUNCTION coldtrace_hook_status coldtrace_hook_get_tab_entry(
    const struct coldtrace_hook_table* table, const struct coldtrace_hook_services_tab* tab,
    coldtrace_u32 index, struct coldtrace_hook_tab_entry* entry) {
  const coldtrace_u8* record =
      coldtrace_hook_record(table, COLDTRACE_HOOK_TAB_ENTRIES, tab->entries, index);
  if (record == NULL) return coldtrace_hook_missing(tab->entries, index);
  entry->hash = coldtrace_hook_load32(record);
  entry->argument_count = coldtrace_hook_load32(record + 4);
  entry->target = coldtrace_hook_load32(record + 8);
  entry->name = coldtrace_hook_load_text(table, record + 12);
  entry->numbers = coldtrace_hook_load_range(record + 16);
  return COLDTRACE_HOOK_OK;
}

/* ---- The context switch. */

/* The place at `index`. Hook it where coldtrace_hook_check_switch gives COLDTRACE_HOOK_OK, and only
   there. */
COLDTRACE_HOOK_FUNCTION coldtrace_hook_status coldtrace_hook_get_switch(
    const struct coldtrace_hook_table* table, const struct coldtrace_hook_build* build,
    coldtrace_u32 index, struct coldtrace_hook_switch* found) {
  const coldtrace_u8* record =
      coldtrace_hook_record(table, COLDTRACE_HOOK_SWITCHES, build->switches, index);
  if (record == NULL) return coldtrace_hook_missing(build->switches, index);
  found->confidence = record[0];
  found->condition = record[1];
  found->flags = coldtrace_hook_load32(record + 4);
  found->name = coldtrace_hook_load_text(table, record + 8);
  found->rva = coldtrace_hook_load32(record + 12);
  found->file_offset = coldtrace_hook_load64(record + 16);
  found->address = coldtrace_hook_load64(record + 24);
  found->first_bytes = coldtrace_hook_load_range(record + 32);
  found->end = coldtrace_hook_load32(record + 40);
  found->kernel_stack_offset = coldtrace_hook_load32(record + 44);
  found->padding_before = coldtrace_hook_load32(record + 48);
  found->callers = coldtrace_hook_load_range(record + 52);
  found->instructions = coldtrace_hook_load_range(record + 60);
  found->incoming = coldtrace_hook_load_range(record + 68);
  found->options = coldtrace_hook_load_range(record + 76);
  found->notes = coldtrace_hook_load_range(record + 84);
  found->evidence = coldtrace_hook_load_range(record + 92);
  return COLDTRACE_HOOK_OK;
}

/* Whether Windows has patched the place at `rva` of the running kernel so that it leads on; where
   to, in `*target`. */
COLDTRACE_HOOK_FUNCTION int coldtrace_hook_is_patched(const coldtrace_u8* image, coldtrace_u32 size,
                                                      coldtrace_u32 rva, coldtrace_u32* target) {
  if (rva < 5 || size < 2 || rva > size - 2) return 0;
  if (image[rva] != 0xeb || image[rva + 1] != 0xf9 || image[rva - 5] != 0xe9) return 0;
  *target = rva + coldtrace_hook_load32(image + rva - 4);
  return 1;
}

/* Whether a place is to be hooked in the running kernel, of which `size` bytes are mapped at
   `image`: SizeOfImage of them, and only the first bytes of each place and five before are read.
   COLDTRACE_HOOK_OK: threads are switched there. COLDTRACE_HOOK_NOT_FOUND: at another place of the
   build. COLDTRACE_HOOK_AMBIGUOUS: that cannot be told, or its first bytes are not those of the
   table. Places are independent: ask for each. */
COLDTRACE_HOOK_FUNCTION coldtrace_hook_status coldtrace_hook_check_switch(
    const struct coldtrace_hook_table* table, const struct coldtrace_hook_build* build,
    const struct coldtrace_hook_switch* found, const void* image, coldtrace_u32 size) {
  const coldtrace_u8* memory = (const coldtrace_u8*)image;
  const coldtrace_u8* bytes = coldtrace_hook_get_bytes(table, found->first_bytes);
  coldtrace_u32 target = COLDTRACE_HOOK_ABSENT;
  coldtrace_u32 index;
  if (memory == NULL) return COLDTRACE_HOOK_BAD_ARGUMENT;
  if (bytes == NULL) return COLDTRACE_HOOK_AMBIGUOUS;
  if (found->condition == COLDTRACE_HOOK_CONDITION_UNKNOWN && build->switches.count != 1)
    return COLDTRACE_HOOK_AMBIGUOUS;
  if (found->condition > COLDTRACE_HOOK_WHEN_PATCHED) return COLDTRACE_HOOK_AMBIGUOUS;
  if (found->condition == COLDTRACE_HOOK_UNLESS_PATCHED &&
      coldtrace_hook_is_patched(memory, size, found->rva, &target))
    return COLDTRACE_HOOK_NOT_FOUND;
  if (found->condition == COLDTRACE_HOOK_WHEN_PATCHED) {
    for (index = 0; index < build->switches.count; ++index) {
      struct coldtrace_hook_switch other;
      coldtrace_hook_status status = coldtrace_hook_get_switch(table, build, index, &other);
      if (status != COLDTRACE_HOOK_OK) return status;
      if (other.condition == COLDTRACE_HOOK_UNLESS_PATCHED &&
          coldtrace_hook_is_patched(memory, size, other.rva, &target))
        break;
    }
    if (target != found->rva) return COLDTRACE_HOOK_NOT_FOUND;
  }
  if (found->rva > size || found->first_bytes.count > size - found->rva)
    return COLDTRACE_HOOK_AMBIGUOUS;
  for (index = 0; index < found->first_bytes.count; ++index)
    if (memory[found->rva + index] != bytes[index]) return COLDTRACE_HOOK_AMBIGUOUS;
  return COLDTRACE_HOOK_OK;
}

COLDTRACE_HOOK_FUNCTION coldtrace_hook_status coldtrace_hook_get_caller(
    const struct coldtrace_hook_table* table, const struct coldtrace_hook_switch* found,
    coldtrace_u32 index, struct coldtrace_hook_call* call) {
  const coldtrace_u8* record =
      coldtrace_hook_record(table, COLDTRACE_HOOK_CALLS, found->callers, index);
  if (record == NULL) return coldtrace_hook_missing(found->callers, index);
  call->rva = coldtrace_hook_load32(record);
  call->function = coldtrace_hook_load32(record + 4);
  call->name = coldtrace_hook_load_text(table, record + 8);
  return COLDTRACE_HOOK_OK;
}

COLDTRACE_HOOK_FUNCTION coldtrace_hook_status coldtrace_hook_get_instruction(
    const struct coldtrace_hook_table* table, const struct coldtrace_hook_switch* found,
    coldtrace_u32 index, struct coldtrace_hook_instruction* instruction) {
  const coldtrace_u8* record =
      coldtrace_hook_record(table, COLDTRACE_HOOK_INSTRUCTIONS, found->instructions, index);
  if (record == NULL) return coldtrace_hook_missing(found->instructions, index);
  instruction->rva = coldtrace_hook_load32(record);
  instruction->length = record[4];
  instruction->flags = coldtrace_hook_load32(record + 8);
  instruction->bytes = coldtrace_hook_load_range(record + 12);
  instruction->text = coldtrace_hook_load_text(table, record + 20);
  instruction->relative_target = coldtrace_hook_load32(record + 24);
  return COLDTRACE_HOOK_OK;
}

COLDTRACE_HOOK_FUNCTION coldtrace_hook_status coldtrace_hook_get_branch(
    const struct coldtrace_hook_table* table, const struct coldtrace_hook_switch* found,
    coldtrace_u32 index, struct coldtrace_hook_branch* branch) {
  const coldtrace_u8* record =
      coldtrace_hook_record(table, COLDTRACE_HOOK_BRANCHES, found->incoming, index);
  if (record == NULL) return coldtrace_hook_missing(found->incoming, index);
  branch->from = coldtrace_hook_load32(record);
  branch->to = coldtrace_hook_load32(record + 4);
  branch->flags = coldtrace_hook_load32(record + 8);
  branch->text = coldtrace_hook_load_text(table, record + 12);
  return COLDTRACE_HOOK_OK;
}

COLDTRACE_HOOK_FUNCTION coldtrace_hook_status coldtrace_hook_get_option(
    const struct coldtrace_hook_table* table, const struct coldtrace_hook_switch* found,
    coldtrace_u32 index, struct coldtrace_hook_option* option) {
  const coldtrace_u8* record =
      coldtrace_hook_record(table, COLDTRACE_HOOK_OPTIONS, found->options, index);
  if (record == NULL) return coldtrace_hook_missing(found->options, index);
  option->method = record[0];
  option->flags = coldtrace_hook_load32(record + 4);
  option->written = coldtrace_hook_load32(record + 8);
  option->copied = coldtrace_hook_load32(record + 12);
  option->sites = coldtrace_hook_load_range(record + 16);
  option->reasons = coldtrace_hook_load_range(record + 24);
  return COLDTRACE_HOOK_OK;
}

/* ---- Fields of the kernel's structures, and interfaces to use instead of a patch. */

COLDTRACE_HOOK_FUNCTION coldtrace_hook_status coldtrace_hook_get_field(
    const struct coldtrace_hook_table* table, const struct coldtrace_hook_build* build,
    coldtrace_u32 index, struct coldtrace_hook_field* field) {
  const coldtrace_u8* record =
      coldtrace_hook_record(table, COLDTRACE_HOOK_FIELDS, build->fields, index);
  if (record == NULL) return coldtrace_hook_missing(build->fields, index);
  field->confidence = record[0];
  field->flags = coldtrace_hook_load32(record + 4);
  field->structure = coldtrace_hook_load_text(table, record + 8);
  field->field = coldtrace_hook_load_text(table, record + 12);
  field->offset = coldtrace_hook_load32(record + 16);
  field->evidence = coldtrace_hook_load_range(record + 20);
  return COLDTRACE_HOOK_OK;
}

/* "_KTHREAD", "ApcState.Process"; two answers are COLDTRACE_HOOK_AMBIGUOUS. */
COLDTRACE_HOOK_FUNCTION coldtrace_hook_status coldtrace_hook_find_field(
    const struct coldtrace_hook_table* table, const struct coldtrace_hook_build* build,
    const char* structure, const char* name, struct coldtrace_hook_field* field) {
  coldtrace_u32 found = COLDTRACE_HOOK_ABSENT;
  coldtrace_u32 index;
  for (index = 0; index < build->fields.count; ++index) {
    if (coldtrace_hook_get_field(table, build, index, field) != COLDTRACE_HOOK_OK)
      return COLDTRACE_HOOK_DAMAGED;
    if (!coldtrace_hook_same_text(field->structure, structure) ||
        !coldtrace_hook_same_text(field->field, name))
      continue;
    if (found != COLDTRACE_HOOK_ABSENT) return COLDTRACE_HOOK_AMBIGUOUS;
    found = index;
  }
  return coldtrace_hook_get_field(table, build, found, field);
}

COLDTRACE_HOOK_FUNCTION coldtrace_hook_status coldtrace_hook_get_interface(
    const struct coldtrace_hook_table* table, const struct coldtrace_hook_build* build,
    coldtrace_u32 index, struct coldtrace_hook_interface* supported) {
  const coldtrace_u8* record =
      coldtrace_hook_record(table, COLDTRACE_HOOK_INTERFACES, build->interfaces, index);
  if (record == NULL) return coldtrace_hook_missing(build->interfaces, index);
  supported->flags = coldtrace_hook_load32(record);
  supported->name = coldtrace_hook_load_text(table, record + 4);
  supported->purpose = coldtrace_hook_load_text(table, record + 8);
  supported->note = coldtrace_hook_load_text(table, record + 12);
  supported->rva = coldtrace_hook_load32(record + 16);
  return COLDTRACE_HOOK_OK;
}

/* ---- Values of member lists, which `coldtrace hooks table --members` writes. */

/* In the order of the lists. */
COLDTRACE_HOOK_FUNCTION coldtrace_hook_status coldtrace_hook_get_member(
    const struct coldtrace_hook_table* table, const struct coldtrace_hook_build* build,
    coldtrace_u32 index, struct coldtrace_hook_member* member) {
  const coldtrace_u8* record =
      coldtrace_hook_record(table, COLDTRACE_HOOK_MEMBERS, build->members, index);
  if (record == NULL) return coldtrace_hook_missing(build->members, index);
  member->kind = record[0];
  member->confidence = record[1];
  member->bit_position = record[2];
  member->bit_length = record[3];
  member->flags = coldtrace_hook_load32(record + 4);
  member->name = coldtrace_hook_load_text(table, record + 8);
  member->expression = coldtrace_hook_load_text(table, record + 12);
  member->value = coldtrace_hook_load64(record + 16);
  member->size = coldtrace_hook_load32(record + 24);
  member->evidence = coldtrace_hook_load_text(table, record + 28);
  return COLDTRACE_HOOK_OK;
}

/* The value that the list calls `name`. One that this build does not have is
   COLDTRACE_HOOK_NOT_FOUND. */
COLDTRACE_HOOK_FUNCTION coldtrace_hook_status coldtrace_hook_find_member(
    const struct coldtrace_hook_table* table, const struct coldtrace_hook_build* build,
    const char* name, struct coldtrace_hook_member* member) {
  coldtrace_u32 index;
  for (index = 0; index < build->members.count; ++index) {
    if (coldtrace_hook_get_member(table, build, index, member) != COLDTRACE_HOOK_OK)
      return COLDTRACE_HOOK_DAMAGED;
    if (coldtrace_hook_same_text(member->name, name))
      return (member->flags & COLDTRACE_HOOK_MEMBER_FOUND) != 0 ? COLDTRACE_HOOK_OK
                                                                : COLDTRACE_HOOK_NOT_FOUND;
  }
  return COLDTRACE_HOOK_NOT_FOUND;
}

/* ---- Trace points, which `coldtrace hooks plan` writes. */

/* In the order in which they were asked for. */
COLDTRACE_HOOK_FUNCTION coldtrace_hook_status coldtrace_hook_get_trace_point(
    const struct coldtrace_hook_table* table, const struct coldtrace_hook_build* build,
    coldtrace_u32 index, struct coldtrace_hook_trace_point* point) {
  const coldtrace_u8* record =
      coldtrace_hook_record(table, COLDTRACE_HOOK_TRACE_POINTS, build->trace_points, index);
  if (record == NULL) return coldtrace_hook_missing(build->trace_points, index);
  point->source = record[0];
  point->boundary = record[1];
  point->flow = record[2];
  point->emulator = record[3];
  point->flags = coldtrace_hook_load32(record + 4);
  point->rva = coldtrace_hook_load32(record + 8);
  point->file_offset = coldtrace_hook_load64(record + 12);
  point->address = coldtrace_hook_load64(record + 20);
  point->function = coldtrace_hook_load32(record + 28);
  point->requested = coldtrace_hook_load_text(table, record + 32);
  point->function_name = coldtrace_hook_load_text(table, record + 36);
  point->section = coldtrace_hook_load_text(table, record + 40);
  point->names = coldtrace_hook_load_range(record + 44);
  point->bytes = coldtrace_hook_load_range(record + 52);
  point->prefix_bytes = record[60];
  point->text = coldtrace_hook_load_text(table, record + 64);
  point->mnemonic = coldtrace_hook_load_text(table, record + 68);
  point->category = coldtrace_hook_load_text(table, record + 72);
  point->target = coldtrace_hook_load32(record + 76);
  point->relocations = coldtrace_hook_load_range(record + 80);
  point->refusals = coldtrace_hook_load_range(record + 88);
  point->reasons = coldtrace_hook_load_range(record + 96);
  point->evidence = coldtrace_hook_load_range(record + 104);
  return COLDTRACE_HOOK_OK;
}

/* The trace point that may be set at an RVA. One that is refused is COLDTRACE_HOOK_NOT_FOUND. */
COLDTRACE_HOOK_FUNCTION coldtrace_hook_status coldtrace_hook_find_trace_point(
    const struct coldtrace_hook_table* table, const struct coldtrace_hook_build* build,
    coldtrace_u32 rva, struct coldtrace_hook_trace_point* point) {
  coldtrace_u32 index;
  for (index = 0; index < build->trace_points.count; ++index) {
    if (coldtrace_hook_get_trace_point(table, build, index, point) != COLDTRACE_HOOK_OK)
      return COLDTRACE_HOOK_DAMAGED;
    if (point->rva == rva && rva != COLDTRACE_HOOK_ABSENT && point->refusals.count == 0)
      return COLDTRACE_HOOK_OK;
  }
  return COLDTRACE_HOOK_NOT_FOUND;
}

#endif

/*
 * The parts of a trace file that are written once, its header and its end, and the header of a
 * buffer. docs/formats/trace-format.md describes the bytes.
 */
#ifndef COLDTRACE_TRACE_FILE_H
#define COLDTRACE_TRACE_FILE_H

#if defined(__cplusplus) && defined(__GNUC__)
#pragma GCC system_header /* no warnings that only C++ has */
#endif

#include "platform.h"

#if defined(_WIN64) || defined(__LP64__)
typedef coldtrace_u64 coldtrace_word; /* as wide as a pointer */
#else
typedef coldtrace_u32 coldtrace_word;
#endif

#define COLDTRACE_HEADER_SIZE 384       /* of a file, before the schema text */
#define COLDTRACE_BUFFER_HEADER_SIZE 64 /* of a buffer, before its first entry */

/* Bits of coldtrace_file.flags. */
#define COLDTRACE_BOOT 1U /* traced before a disk existed */
#define COLDTRACE_WRAP 2U /* the oldest buffers make room for new events */

/* Values of coldtrace_file.clock. */
#define COLDTRACE_CLOCK_COUNTER 1 /* a performance counter */
#define COLDTRACE_CLOCK_CYCLES 3  /* the cycle counter of each processor */

COLDTRACE_API void coldtrace_put16(coldtrace_u8* at, coldtrace_u32 number) {
  at[0] = (coldtrace_u8)(number & 0xffU);
  at[1] = (coldtrace_u8)(number >> 8 & 0xffU);
}

COLDTRACE_API void coldtrace_put32(coldtrace_u8* at, coldtrace_u32 number) {
  coldtrace_put16(at, number & 0xffffU);
  coldtrace_put16(at + 2, number >> 16);
}

COLDTRACE_API void coldtrace_put64(coldtrace_u8* at, coldtrace_u64 number) {
  coldtrace_put32(at, (coldtrace_u32)(number & 0xffffffffU));
  coldtrace_put32(at + 4, (coldtrace_u32)(number >> 32));
}

COLDTRACE_API void coldtrace_copy(coldtrace_u8* to, const void* from, coldtrace_u32 size) {
  const coldtrace_u8* bytes = (const coldtrace_u8*)from;
  coldtrace_u32 i;
  for (i = 0; i < size; ++i) to[i] = bytes[i];
}

COLDTRACE_API void coldtrace_clear(coldtrace_u8* at, coldtrace_u32 size) {
  coldtrace_u32 i;
  for (i = 0; i < size; ++i) at[i] = 0;
}

/* CRC-32C of `bytes` that follow those with the CRC `before`; 0 to begin. Four bits at a time: the
   table stays in one cache line. */
COLDTRACE_API coldtrace_u32 coldtrace_crc32c(coldtrace_u32 before, const coldtrace_u8* bytes,
                                             coldtrace_u32 size) {
  static const coldtrace_u32 table[16] = {0x00000000U, 0x105ec76fU, 0x20bd8edeU, 0x30e349b1U,
                                          0x417b1dbcU, 0x5125dad3U, 0x61c69362U, 0x7198540dU,
                                          0x82f63b78U, 0x92a8fc17U, 0xa24bb5a6U, 0xb21572c9U,
                                          0xc38d26c4U, 0xd3d3e1abU, 0xe330a81aU, 0xf36e6f75U};
  coldtrace_u32 value = ~before;
  coldtrace_u32 i;
  for (i = 0; i < size; ++i) {
    value ^= bytes[i];
    value = value >> 4 ^ table[value & 0xfU];
    value = value >> 4 ^ table[value & 0xfU];
  }
  return ~value;
}

COLDTRACE_API void coldtrace_buffer_header(coldtrace_u8* header, coldtrace_u32 kind,
                                           coldtrace_u32 processor, coldtrace_u32 sequence,
                                           coldtrace_u32 length, coldtrace_u32 lost,
                                           coldtrace_u64 cycles, coldtrace_u64 file_time) {
  coldtrace_clear(header, COLDTRACE_BUFFER_HEADER_SIZE);
  coldtrace_copy(header, "CTBUFFER", 8);
  coldtrace_put32(header + 12, length);
  coldtrace_put16(header + 16, processor);
  header[18] = (coldtrace_u8)kind;
  coldtrace_put32(header + 20, sequence);
  coldtrace_put32(header + 24, lost);
  coldtrace_put64(header + 32, cycles);
  coldtrace_put64(header + 40, file_time);
}

/* What identifies a PE image; zeros are "not known". Names are cut at 39 characters. */
typedef struct coldtrace_image {
  coldtrace_u16 machine; /* IMAGE_FILE_MACHINE_... */
  coldtrace_u32 time_date_stamp;
  coldtrace_u32 size_of_image;
  coldtrace_u32 checksum;
  coldtrace_u16 file_version[4];
  coldtrace_u32 pdb_age;
  coldtrace_u8 pdb_guid[16];
  const char* name; /* or null */
  const char* pdb_name;
} coldtrace_image;

typedef struct coldtrace_file {
  coldtrace_u32 flags;
  coldtrace_u8 pointer_size;
  coldtrace_u8 clock;
  coldtrace_u32 processors;
  coldtrace_u64 frequency; /* nominal, of the stamps, in Hz: they never count faster */
  coldtrace_u64 start_time;
  coldtrace_u64 boot_time; /* 0: not known, like all below */
  coldtrace_u8 session[16];
  coldtrace_u32 boot_id;
  coldtrace_u32 time_resolution; /* of FILETIMEs, in 100 ns */
  coldtrace_u32 windows_major;
  coldtrace_u32 windows_minor;
  coldtrace_u32 windows_build;
  coldtrace_image kernel;
  coldtrace_image ntdll; /* system calls have its numbers */
} coldtrace_file;

COLDTRACE_API void coldtrace_put_name(coldtrace_u8* at, const char* name) {
  coldtrace_u32 i;
  for (i = 0; name && i < 39 && name[i]; ++i) at[i] = (coldtrace_u8)name[i];
}

COLDTRACE_API void coldtrace_put_image(coldtrace_u8* at, const coldtrace_image* image) {
  coldtrace_u32 i;
  coldtrace_put16(at, image->machine);
  coldtrace_put32(at + 4, image->time_date_stamp);
  coldtrace_put32(at + 8, image->size_of_image);
  coldtrace_put32(at + 12, image->checksum);
  for (i = 0; i < 4; ++i) coldtrace_put16(at + 16 + 2 * i, image->file_version[i]);
  coldtrace_put32(at + 24, image->pdb_age);
  coldtrace_copy(at + 32, image->pdb_guid, 16);
  coldtrace_put_name(at + 48, image->name);
  coldtrace_put_name(at + 88, image->pdb_name);
}

/* Bytes of the header of a file with `schema_size` bytes of schema text. */
COLDTRACE_API coldtrace_u32 coldtrace_file_header_size(coldtrace_u32 schema_size) {
  return COLDTRACE_HEADER_SIZE + ((schema_size + 7U) & ~7U);
}

/* Writes the header of a file into coldtrace_file_header_size() bytes at `at`. */
COLDTRACE_API void coldtrace_file_header(coldtrace_u8* at, const coldtrace_file* file,
                                         const char* schema, coldtrace_u32 schema_size) {
  coldtrace_u32 size = coldtrace_file_header_size(schema_size);
  coldtrace_clear(at, size);
  coldtrace_copy(at, "COLDTRC\032", 8);
  coldtrace_put16(at + 8, 1);
  coldtrace_put32(at + 12, size);
  coldtrace_put32(at + 20, file->flags);
  at[24] = file->pointer_size;
  at[25] = file->clock;
  coldtrace_put32(at + 28, file->processors);
  coldtrace_put64(at + 32, file->frequency);
  coldtrace_put64(at + 40, file->start_time);
  coldtrace_put64(at + 48, file->boot_time);
  coldtrace_copy(at + 56, file->session, 16);
  coldtrace_put32(at + 72, file->boot_id);
  coldtrace_put32(at + 76, file->time_resolution);
  coldtrace_put32(at + 80, file->windows_major);
  coldtrace_put32(at + 84, file->windows_minor);
  coldtrace_put32(at + 88, file->windows_build);
  coldtrace_put32(at + 92, schema_size);
  coldtrace_put_image(at + 128, &file->kernel);
  coldtrace_put_image(at + 256, &file->ntdll);
  coldtrace_copy(at + COLDTRACE_HEADER_SIZE, schema, schema_size);
  coldtrace_put32(at + 16, coldtrace_crc32c(0, at, size));
}

/* The last COLDTRACE_BUFFER_HEADER_SIZE bytes of a file that was closed. */
COLDTRACE_API void coldtrace_file_end(coldtrace_u8* at, coldtrace_u64 cycles,
                                      coldtrace_u64 file_time) {
  coldtrace_buffer_header(at, 1, 0xffff, 0, 0, 0, cycles, file_time);
  coldtrace_put32(at + 8, coldtrace_crc32c(0, at, COLDTRACE_BUFFER_HEADER_SIZE));
}

#endif

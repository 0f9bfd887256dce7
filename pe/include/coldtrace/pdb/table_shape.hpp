#pragma once

#include <optional>
#include <vector>

#include "coldtrace/pdb/type_table.hpp"

namespace coldtrace::pe {

// The shape of a class's table of virtual functions, LF_VTSHAPE.
struct TableShape {
  u32 index;              // of its record
  std::vector<u8> slots;  // CV_VTS_desc_e of each, as many as in the record
};

// "near16", "far16", "this", "outer", "meta", "near", "far", or "unknown".
[[nodiscard]] std::string_view slot_kind_of(u8 slot);

// That of the structure or class at `index`. Nothing: it has no virtual functions of its own, or
// the record cannot be read. Source: microsoft-pdb, cvinfo.h, lfVTShape and CV_VTS_desc_e.
[[nodiscard]] std::optional<TableShape> find_table_shape(const TypeTable& table, u32 index);

}  // namespace coldtrace::pe

#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "coldtrace/core/findings.hpp"
#include "coldtrace/core/guid.hpp"
#include "coldtrace/core/marked_text.hpp"

namespace coldtrace::tracefile {

// One format of a TMF text, as it stands there.
struct TmfFormat {
  struct Argument {
    std::string_view expression;
    std::string_view type;  // "ItemListLong"
    std::string_view list;  // what stands in parentheses behind it
    unsigned number;
  };
  core::Guid guid;  // of the source file
  std::string_view component, source_file;
  std::string_view tag;
  unsigned number;
  std::string_view text;
  std::string_view level, flags, function;
  std::vector<Argument> arguments;
};

struct TmfEnumeration {
  struct Value {
    std::string_view name;
    u64 number;
  };
  std::string_view name;
  std::vector<Value> values;
};

struct TmfText {
  std::vector<TmfFormat> formats;
  std::vector<TmfEnumeration> enumerations;
};

// Reads a TMF text: what tracepdb writes, or what annotations of PDBs hold line by line, with
// another separator between them, since lines of formats can have line breaks. Lines that are not
// part of one are the finding `schema-damaged`. All views are into `text`, which is that of `file`,
// if it is of one. Source: files that tracepdb wrote, and WPP's annotations in public PDBs.
//
// The flags of a format are behind FLAGS= or FLAG=, as WPP's own macros call their parameter. A
// component may call it as it likes, DoTraceMessage has it as its LEVEL: so else it is what is one
// of `flags`, the names that the providers of the same PDB have.
TmfText read_tmf(std::string_view text, const core::MarkedText* file, char separator,
                 const std::set<std::string, std::less<>>& flags, core::Findings& findings);

}  // namespace coldtrace::tracefile

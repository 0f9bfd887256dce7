#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "coldtrace/core/borrowed.hpp"
#include "coldtrace/trace_analysis/records/function_names.hpp"

namespace coldtrace::trace_analysis {

// What lies at the addresses that a trace names: modules and functions, each with a number. Without
// symbols, every address is a function of its own.
class CodeNames {
 public:
  // Both must outlive the object.
  CodeNames(core::Borrowed<tracefile::NameTables> images, FunctionNames& names)
      : images_{images.get()}, names_{names} {}
  CodeNames(const CodeNames&) = delete;
  CodeNames& operator=(const CodeNames&) = delete;

  struct Function {
    std::string_view name;  // without an offset; the address if no image is known
    u32 module;
  };
  // Numbers that mean: no image is known there; more functions than are kept.
  static constexpr u32 no_module = 0;
  static constexpr u32 other_functions = 0;

  struct Code {
    u32 module;
    u32 function;
  };
  // By the images and managed methods that were there at the time, according to the trace. The
  // module is returned even if the function is not kept.
  Code find(std::optional<u32> pid, u64 address, i64 time);

  // By number; names of modules are paths as the trace has them.
  [[nodiscard]] const std::vector<std::string_view>& modules() const { return modules_; }
  [[nodiscard]] const std::vector<Function>& functions() const { return functions_; }
  [[nodiscard]] u64 left_out() const {
    return left_out_;
  }  // addresses looked up beyond the functions kept

 private:
  static constexpr std::size_t most_functions = std::size_t{1} << 17U;
  static constexpr u32 no_file = ~u32{0};
  static constexpr u32 of_method = no_file - 1;  // then the offset is the method's number

  u32 module_number(std::string_view name);
  u32 number_of(const std::string& name, u32 module);

  const tracefile::NameTables& images_;
  FunctionNames& names_;
  std::vector<std::string_view> modules_{""};
  std::unordered_map<std::string_view, u32> module_numbers_;
  std::vector<Function> functions_{{"[other]", no_module}};
  std::unordered_map<ImagePlace, Code, ImagePlace::Hash> known_;
  std::unordered_map<std::string, u32> by_name_;
  u64 left_out_ = 0;
};

}  // namespace coldtrace::trace_analysis

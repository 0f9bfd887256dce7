#pragma once

#include <map>
#include <vector>

#include "coldtrace/pe/image_tables.hpp"
#include "syscall-map/member-derivation/operation_reader.hpp"

namespace coldtrace::syscall_map {

// The operations that direct branches reach from the entry of a function, by address. Code beyond
// the next function known from .pdata or an export, or far away, is not followed.
struct FunctionCode {
  static constexpr std::size_t most_operations = 2048;
  static constexpr u32 farthest = 0x4000;

  std::vector<Operation> operations;
  u32 popped = 0;  // bytes of arguments it removes from the stack

  std::optional<std::size_t> find(pe::Rva rva) const;
  // Whether the operation is a jump out of the function.
  bool leaves(const Operation& operation) const {
    return operation.flow == Operation::Flow::jump && operation.target && !find(*operation.target);
  }
};

// Functions of one image, each read once. A view: the tables have to outlive it.
class FunctionStore {
 public:
  explicit FunctionStore(const pe::ImageTables& tables);

  const FunctionCode& at(pe::Rva entry) const;
  const OperationReader& reader() const { return reader_; }
  const pe::ImageTables& tables() const { return tables_; }

 private:
  pe::Rva bound_of(pe::Rva entry) const;

  const pe::ImageTables& tables_;
  OperationReader reader_;
  std::vector<pe::Rva> starts_;  // of exports, ascending
  mutable std::map<pe::Rva, FunctionCode> functions_;
};

}  // namespace coldtrace::syscall_map

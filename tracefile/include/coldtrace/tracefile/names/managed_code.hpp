#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "coldtrace/tracefile/events/event.hpp"

namespace coldtrace::tracefile {

// What one event of the .NET runtime says of code that it has compiled, or of a module, which the
// code of a method belongs to. Sources: Microsoft Learn, "Method ETW Events" and "Loader ETW
// Events"; ClrEtwAll.man.
struct ManagedRecord {
  enum class Verb : u8 {
    exists_before,  // rundown at the start
    begins,
    ends,
    exists_after,  // rundown at the end
  };
  enum class Of : u8 {
    method,
    entry_point,  // of a method's precompiled code, whose size is not said
    module,
  };
  Of of = Of::method;
  Verb verb = Verb::begins;
  u32 pid = 0;
  i64 time = 0;
  u64 module = 0;  // its id
  u64 method = 0;
  u64 start = 0;
  u32 size = 0;
  u32 flags = 0;
  std::string name{};  // "Namespace.Type.Method", or the path of the module; empty: not said
};

// Nothing for other events, and for those that are cut.
std::optional<ManagedRecord> read_managed_record(const Event& event);

// How the runtime has compiled a method; empty where it does not say. From .NET Core 3.0 on.
std::string_view method_tier(u32 flags);
// Whether it is a part that the compiler has moved away from the rest.
bool is_cold_part(u32 flags);

// Which code of managed methods lay where and when. A range that is used again is that of the later
// method from its load on.
class ManagedCode {
 public:
  struct Method {
    u32 name, module;  // texts
    u32 flags;
    u32 number;
    u64 start;
    i64 told;             // when an event said so
    bool is_entry_point;  // the nearest before the address, in whatever image
  };

  // `text` is the number of the record's name.
  void add(const ManagedRecord& record, u32 text);
  // Of a record that is not kept: nothing is known of any code from its time on.
  void drop(const ManagedRecord& record);
  // To be called once, after all records.
  void finish();

  std::optional<Method> find(u32 pid, u64 address, i64 time) const;

  std::size_t size() const { return records_.size() + modules_.size() + entries_.size(); }
  std::size_t bytes() const {
    return records_.capacity() * sizeof(Record) + modules_.capacity() * sizeof(Module) +
           entries_.capacity() * sizeof(Entry);
  }

 private:
  struct Record {
    u64 start;
    u64 module, method;
    i64 time;
    u32 pid, size, flags, name;
    ManagedRecord::Verb verb;
    bool is_entry_point;
  };
  struct Module {
    u64 id;
    i64 time;
    u32 pid, name;
  };
  struct Entry {
    u64 start;
    i64 from, to, told;
    u64 reach;  // behind all code of the process that begins here or before
    u32 pid, size, flags, name, module;
    bool is_entry_point;
  };

  void add_record(const Record& record);
  void add_entry(const Record& record, i64 from, i64 to);
  void measure();
  u32 find_module(const Record& record) const;

  std::vector<Record> records_;  // of methods, until finish()
  std::vector<Module> modules_;  // by process, id and time
  std::vector<Entry> entries_;   // by process, start and time
  std::optional<i64> dropped_;
};

}  // namespace coldtrace::tracefile

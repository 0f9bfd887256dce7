#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "coldtrace/tracefile/events/event.hpp"
#include "coldtrace/tracefile/names/name_validity.hpp"

namespace coldtrace::tracefile {

// What one event of the .NET runtime says about code that it has compiled, or about a module, to
// which the code of a method belongs. Sources: Microsoft Learn, "Method ETW Events" and "Loader ETW
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

// Nothing for other events, and for those that are truncated.
[[nodiscard]] std::optional<ManagedRecord> read_managed_record(const Event& event);

// How the runtime has compiled a method; empty if it does not say. Since .NET Core 3.0.
[[nodiscard]] std::string_view method_tier(u32 flags);
// Whether it is a part that the compiler has moved away from the rest.
[[nodiscard]] bool is_cold_part(u32 flags);

// Which code of managed methods lay where and when. A reused range belongs to the later method from
// its load on.
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
  // For a record that is not kept: nothing is known about any code from its time on.
  void drop(const ManagedRecord& record);
  // To be called once, after all records.
  void finish();

  // The method whose code is at the address at this time; `validity` is narrowed to how long that
  // holds.
  std::optional<Method> find(u32 pid, u64 address, i64 time, NameValidity& validity) const;

  [[nodiscard]] std::size_t size() const {
    return records_.size() + modules_.size() + entries_.size();
  }
  [[nodiscard]] std::size_t bytes() const {
    return codes_.capacity() * sizeof(Code) + records_.capacity() * sizeof(Record) +
           modules_.capacity() * sizeof(Module) + ranges_.capacity() * sizeof(Range) +
           entries_.capacity() * sizeof(Entry);
  }

 private:
  // What records say about a method's code, mostly again and again.
  struct Code {
    u64 start, module;
    u32 pid, size, flags, name;
    bool is_entry_point;
    bool operator==(const Code&) const = default;
  };
  struct Record {
    i64 time;
    u32 code;
    ManagedRecord::Verb verb;
  };
  struct Module {
    u64 id;
    i64 time;
    u32 pid, name;
  };
  // All code of one process that begins at one address.
  struct Range {
    u64 start;
    u64 reach;  // behind all code of the process that begins here or before
    u32 pid;
    u32 first;  // of its entries
  };
  struct Entry {
    i64 from, to, told;
    u32 code, module;
  };

  u32 add_code(const Code& code);
  std::vector<u32> sort_codes();
  void add_record(const Record& record, bool begins_range);
  void add_entry(const Record& record, i64 from, i64 to);
  void measure();
  u32 find_module(const Code& code, i64 time) const;
  std::size_t first_behind(std::size_t range) const {
    return range + 1 < ranges_.size() ? ranges_[range + 1].first : entries_.size();
  }

  std::vector<Code> codes_;       // by process and start, once all are known
  std::vector<u32> known_codes_;  // some of them by hash, until finish()
  std::vector<Record> records_;   // of methods, until finish()
  std::vector<Module> modules_;   // by process, id and time
  std::vector<Range> ranges_;     // by process and start
  std::vector<Entry> entries_;    // by range and time
  std::optional<i64> dropped_;
};

}  // namespace coldtrace::tracefile

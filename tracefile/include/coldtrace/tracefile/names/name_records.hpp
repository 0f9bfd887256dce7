#pragma once

#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "coldtrace/tracefile/events/event.hpp"
#include "coldtrace/tracefile/fields/field_schema.hpp"
#include "coldtrace/tracefile/names/managed_code.hpp"
#include "coldtrace/tracefile/names/sampling_intervals.hpp"

namespace coldtrace::tracefile {

// What one event says about names: a process or thread that runs, an image that is loaded, the name
// of a file object or registry key, the frames of a stack key.
struct NameRecord {
  enum class Subject : u8 { process, thread, image, file, registry_key, stack };
  enum class Verb : u8 {
    exists_before,  // rundown at the start: since before the trace
    begins,
    ends,          // and had this name until now
    exists_after,  // rundown at the end: it had this name and still has it
  };
  Subject subject;
  Verb verb;
  u32 owner;                // process of a thread or image
  i64 time;                 // raw timestamp
  u64 key;                  // id, base address, object address, stack key
  u64 length;               // size of an image in bytes
  u32 text;                 // offset of its text, or of its first frame
  u32 count;                // bytes of text, or frames
  u32 time_date_stamp = 0;  // of an image
  u32 checksum = 0;         // of an image
};

// What one event says about the file from which the image at a base address was loaded; zeros are
// "not said". Source of the events: what xperf and PerfView add when they merge traces.
struct ImageFileRecord {
  u32 owner;  // process
  i64 time;   // that of an event of the image
  u64 base;
  u32 time_date_stamp = 0;
  u32 checksum = 0;
  u32 pdb_age = 0;
  core::Guid pdb_guid{};
  std::string pdb_name{};
  bool portable_pdb = false;  // as of a TracedImage
  bool has_il_pdb = false;
};

// Records of some events in order, with what they point to.
class NameRecords {
 public:
  // Adds what the event says; most say nothing.
  void add(const Event& event);
  // A process that begins, as another format describes it.
  void add_started_process(u32 pid, i64 time, std::string_view image_name);

  [[nodiscard]] const std::vector<NameRecord>& all() const { return records_; }
  [[nodiscard]] std::string_view text(const NameRecord& record) const {
    return std::string_view{texts_}.substr(record.text, record.count);
  }
  [[nodiscard]] const u64* frames(const NameRecord& record) const {
    return frames_.data() + record.text;
  }
  [[nodiscard]] const std::vector<ImageFileRecord>& image_files() const { return image_files_; }
  [[nodiscard]] const std::vector<ManagedRecord>& managed() const { return managed_; }
  [[nodiscard]] const std::vector<SamplingIntervals::Change>& sampling_intervals() const {
    return sampling_intervals_;
  }

 private:
  void add_process(const Event& event);
  void add_thread(const Event& event);
  void add_image(const Event& event);
  void add_image_file(const Event& event);
  void add_file(const Event& event);
  void add_registry_key(const Event& event);
  void add_stack(const Event& event);
  void add_sampling_interval(const Event& event);
  void push(NameRecord record, std::string_view text);
  const EventSchema* schema_of(const Event& event);

  std::map<std::tuple<core::Guid, u8, u8>, std::shared_ptr<const EventSchema>> schemas_;

  std::vector<NameRecord> records_;
  std::string texts_;
  std::vector<u64> frames_;
  std::vector<ImageFileRecord> image_files_;
  std::vector<ManagedRecord> managed_;
  std::vector<SamplingIntervals::Change> sampling_intervals_;
};

}  // namespace coldtrace::tracefile

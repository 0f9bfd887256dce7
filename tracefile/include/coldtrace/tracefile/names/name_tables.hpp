#pragma once

#include <array>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "coldtrace/core/findings.hpp"
#include "coldtrace/tracefile/names/image_files.hpp"
#include "coldtrace/tracefile/names/key_table.hpp"
#include "coldtrace/tracefile/names/managed_code.hpp"
#include "coldtrace/tracefile/names/sampling_intervals.hpp"
#include "coldtrace/tracefile/names/stack_table.hpp"
#include "coldtrace/tracefile/names/timeline.hpp"

namespace coldtrace::tracefile {

// Texts, each kept once. Ids are stable; 0 is the empty text.
class TextPool {
 public:
  // The id of the text, a new one if it is not there yet.
  u32 add(std::string_view text);
  [[nodiscard]] std::string_view text(u32 id) const { return texts_[id]; }
  [[nodiscard]] std::size_t bytes() const { return bytes_; }

 private:
  struct Hash : std::hash<std::string_view> {
    using is_transparent = void;
  };
  std::unordered_map<std::string, u32, Hash, std::equal_to<>> ids_;
  std::vector<std::string_view> texts_{""};
  std::size_t bytes_ = 0;
};

// Names in effect at any time of a trace, built from the records of a first pass: exact text, as
// core::decode_exact() makes it.
class NameTables {
 public:
  // Bounds what is kept: entries beyond are dropped and counted in the finding `names-limit`.
  explicit NameTables(std::size_t largest_bytes) : largest_bytes_{largest_bytes} {
    timelines_.fill(Timeline{largest_bytes / sizeof(Timeline::Entry)});
  }

  // Records of the next part of the file.
  void add(const NameRecords& records, core::Findings& findings);
  // To be called once, after all records.
  void finish();

  // The image name of the process that has the id at this time, a timestamp.
  [[nodiscard]] std::optional<std::string_view> find_process(u32 pid, i64 time) const;
  // `validity` belongs to that time.
  std::optional<std::string_view> find_process(u32 pid, i64 time, NameValidity& validity) const;

  struct Thread {
    u32 pid;
    std::string_view name;  // empty when it has none
  };
  // The process and name of the thread that has the id at this time.
  [[nodiscard]] std::optional<Thread> find_thread(u32 tid, i64 time) const;

  // The process of a thread; the idle threads are all of process 0.
  [[nodiscard]] std::optional<u32> find_process_of(u32 tid, i64 time) const;

  // By the address of the file object, or of the key, at this time; registry keys by that of their
  // control block.
  [[nodiscard]] std::optional<std::string_view> find_file(u64 object, i64 time) const;
  [[nodiscard]] std::optional<std::string_view> find_registry_key(u64 handle, i64 time) const;

  struct Image {
    std::string_view name;
    u64 base;
    u32 file;  // number in image_files()
  };
  // The image that contains the address in the process, or in the kernel, whose addresses are the
  // same in all processes and need no pid.
  [[nodiscard]] std::optional<Image> find_image(std::optional<u32> pid, u64 address,
                                                i64 time) const;

  struct Method {
    std::string_view name;    // "Namespace.Type.Method"
    std::string_view module;  // path of the module; empty if none is known
    u32 flags;                // MethodFlags of the .NET runtime
    u32 number;               // the same for each use of one range by one method
    u64 start;
    // The nearest entry point of precompiled code before the address, in the same image: other
    // methods, which nobody asked for, may lie between the two.
    bool is_entry_point;
  };
  // The managed method whose code is at the address, according to the .NET runtime of the process.
  [[nodiscard]] std::optional<Method> find_method(std::optional<u32> pid, u64 address,
                                                  i64 time) const;

  // "ntdll.dll+0x1f2a0", "mscorlib.dll!System.String.Concat+0x12"; empty if nothing is known.
  [[nodiscard]] std::string name_address(std::optional<u32> pid, u64 address, i64 time) const;
  // Images by their file name or by their whole path; `validity` belongs to the time.
  enum class ImageForm : u8 { file, path };
  void append_address(std::string& text, std::optional<u32> pid, u64 address, i64 time,
                      ImageForm form, NameValidity& validity) const;

  [[nodiscard]] const ImageFiles& image_files() const { return image_files_; }

  [[nodiscard]] const StackTable& stacks() const { return stacks_; }
  [[nodiscard]] const SamplingIntervals& sampling_intervals() const { return sampling_intervals_; }

  [[nodiscard]] std::size_t bytes() const;
  [[nodiscard]] std::size_t entries() const;

 private:
  struct ImageEntry {
    u32 pid;
    u32 file;
    u64 base;
    u64 size;
    i64 from, to;
  };
  // The last record kept for a key, to drop repetitions.
  struct State {
    NameRecord::Verb verb;
    bool dropped;
    NameRecord::Verb repeating;  // of the last record that was dropped
    u32 value;
    u32 owner;
    i64 repeated;  // its time
  };
  struct ImageRecord {
    NameRecord record;
    u32 file;
  };
  // What was said about an image, by its number in sayings_.
  struct ImageSaid {
    u32 owner;
    u32 saying;
    u64 base;
    i64 time;
  };
  using Subject = NameRecord::Subject;

  void drop(const NameRecord& record);
  void add_named(const NameRecord& record, std::string_view text);
  bool is_repetition(const NameRecord& record, u32 value, const State& state) const;
  void keep(const NameRecord& record, u32 value);
  void add_image_file(const ImageFileRecord& record);
  Timeline& timeline(Subject subject) { return timelines_[static_cast<std::size_t>(subject)]; }
  bool is_known(Subject subject, i64 time) const {
    const auto& dropped = first_dropped_[static_cast<std::size_t>(subject)];
    return !dropped || time < *dropped;
  }
  // Tells the validity of it as well.
  bool is_known(Subject subject, i64 time, NameValidity& validity) const {
    if (const auto& dropped = first_dropped_[static_cast<std::size_t>(subject)])
      validity.changes_at(*dropped);
    return is_known(subject, time);
  }
  const Timeline::Entry* find(Subject subject, u64 key, i64 time) const {
    if (!is_known(subject, time)) return nullptr;
    return timelines_[static_cast<std::size_t>(subject)].find(key, time);
  }
  const Timeline::Entry* find(Subject subject, u64 key, i64 time, NameValidity& validity) const {
    if (!is_known(subject, time, validity)) return nullptr;
    return timelines_[static_cast<std::size_t>(subject)].find(key, time, validity);
  }
  std::optional<std::string_view> find_name(Subject subject, u64 key, i64 time) const;
  void build_images();
  void identify_images();
  std::optional<Image> find_image_of(u32 pid, u64 address, i64 time, NameValidity& validity) const;
  std::optional<Image> find_image(std::optional<u32> pid, u64 address, i64 time,
                                  NameValidity& validity) const;
  std::optional<Method> find_method(std::optional<u32> pid, u64 address, i64 time,
                                    NameValidity& validity) const;

  std::size_t largest_bytes_;
  TextPool texts_;
  static constexpr std::size_t subjects = 5;  // those with names
  KeyTable<State> states_[subjects];
  std::array<Timeline, subjects> timelines_;  // by subject; that of images stays empty
  std::vector<ImageRecord> image_records_;
  KeyTable<i64> image_changes_;  // time of the last record kept, by image
  ImageFiles sayings_;
  std::vector<ImageSaid> images_said_;
  KeyTable<i64> last_said_;         // time, by image and saying
  std::vector<ImageEntry> images_;  // by process, base and time
  ImageFiles image_files_;
  // Times from which on a name could be outdated.
  std::array<std::optional<i64>, subjects> first_dropped_;  // by subject
  StackTable stacks_;
  SamplingIntervals sampling_intervals_;
  ManagedCode managed_;
};

}  // namespace coldtrace::tracefile

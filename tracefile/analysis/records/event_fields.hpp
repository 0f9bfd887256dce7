#pragma once

#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "coldtrace/tracefile/providers/event_decoder.hpp"

namespace coldtrace::trace_analysis {

// What a field of an event means to a record, whatever its provider calls it.
enum class Field : u8 {
  process,
  thread,
  parent,
  creator_process,
  creator_thread,
  old_process,
  old_thread,
  new_process,
  new_thread,
  old_state,
  wait_reason,
  old_priority,
  new_priority,
  base_priority,
  adjust_reason,
  adjust_increment,
  affinity,
  group,
  ready_flags,
  thread_object,
  object,
  object_kind,
  objects,  // addresses of several
  object_kinds,
  wait_type,
  message,
  timeout,
  start_address,
  exit_status,
  service,
  vxd,
  cycles,
  begin_time,
  routine,
  address,
  sample_count,
  sample_flags,
  event_time,
  image_name,
  command_line,
  thread_name,
  vxd_name,
  service_name,
  irp,
  irp_flags,
  major_function,
  disk,
  offset,
  bytes,
  file_object,
  response,
  file_key,
  path,
  remote,
  remote_port,
  local,
  local_port,
  pair_key,  // as the user names it
  count,     // of these
};

// "objects.kind" is the field `kind` of each structure in the array `objects`.
struct NamedField {
  Field field = Field::count;
  std::string_view name;
};

// The fields of one event that a record asks for.
class FieldValues {
 public:
  void clear() {
    present_ = 0;
    if (std::exchange(has_lists_, false))
      for (auto& list : lists_) list.clear();
  }
  void set(Field field, u64 value) {
    numbers_[static_cast<std::size_t>(field)] = value;
    present_ |= u64{1} << static_cast<unsigned>(field);
  }
  void set(Field field, std::string text) {
    texts_[static_cast<std::size_t>(field)] = std::move(text);
    set(field, u64{0});
  }

  // One more of an array; those beyond `longest_list` are left out.
  void append(Field field, u64 value) {
    auto& list = lists_[static_cast<std::size_t>(field)];
    if (list.size() < longest_list) list.push_back(value);
    has_lists_ = true;
  }

  bool has(Field field) const { return (present_ >> static_cast<unsigned>(field) & 1U) != 0; }
  template <class T>
  std::optional<T> get(Field field) const {
    if (!has(field)) return std::nullopt;
    return static_cast<T>(numbers_[static_cast<std::size_t>(field)]);
  }
  const std::string& text(Field field) const {
    static const std::string none;
    return has(field) ? texts_[static_cast<std::size_t>(field)] : none;
  }
  const std::vector<u64>& list(Field field) const {
    return lists_[static_cast<std::size_t>(field)];
  }

 private:
  static constexpr auto size = static_cast<std::size_t>(Field::count);
  static_assert(size <= 64);                       // bits of present_
  static constexpr std::size_t longest_list = 64;  // MAXIMUM_WAIT_OBJECTS
  std::array<u64, size> numbers_{};
  std::array<std::string, size> texts_;
  std::array<std::vector<u64>, size> lists_;
  u64 present_ = 0;
  bool has_lists_ = false;
};

// How to take the fields of one kind of event out of its payload: from fixed places where all of
// them have one, else by decoding.
class FieldPlan {
 public:
  FieldPlan() = default;
  FieldPlan(const tracefile::EventSchema& schema, std::span<const NamedField> fields,
            unsigned pointer_size);

  // Fields that the payload lacks are absent.
  void take(const tracefile::Event& event, FieldValues& values) const;

 private:
  struct FixedField {
    Field field;
    u8 size;  // bytes
    u16 offset;
    bool is_signed;
  };

  const tracefile::EventSchema* schema_ = nullptr;
  std::vector<FixedField> fixed_;
  std::vector<NamedField> decoded_;  // all of them, where one has no fixed place
};

}  // namespace coldtrace::trace_analysis

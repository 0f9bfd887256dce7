#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "coldtrace/tracefile/event_decoder.hpp"

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
  ready_flags,
  thread_object,
  start_address,
  exit_status,
  image_name,
  command_line,
  thread_name,
  count,  // of these
};

struct NamedField {
  Field field = Field::count;
  std::string_view name;
};

// The fields of one event that a record asks for.
class FieldValues {
 public:
  void clear() { present_ = 0; }
  void set(Field field, u64 value) {
    numbers_[static_cast<std::size_t>(field)] = value;
    present_ |= u64{1} << static_cast<unsigned>(field);
  }
  void set(Field field, std::string text) {
    texts_[static_cast<std::size_t>(field)] = std::move(text);
    set(field, u64{0});
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

 private:
  static constexpr auto size = static_cast<std::size_t>(Field::count);
  std::array<u64, size> numbers_{};
  std::array<std::string, size> texts_;
  u64 present_ = 0;
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

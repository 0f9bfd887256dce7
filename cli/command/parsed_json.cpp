#include "cli/command/parsed_json.hpp"

#include <algorithm>
#include <cstring>
#include <optional>

#include <rapidjson/document.h>

#include "cli/command/checked_allocator.hpp"

namespace coldtrace::cli {

using Pool = rapidjson::MemoryPoolAllocator<>;

// RapidJSON does not look whether its pool could take more memory, so all that a value may need is
// there before: 16 bytes for each value and each name of a member, of which there is at most one
// in two bytes, and before which there is one of these characters, but for the whole.
struct ParsedJson::Memory {
  static constexpr std::size_t usual_size = std::size_t{1} << 16;
  static constexpr std::size_t head_of_pool = 64;

  static std::size_t needed(std::string_view text) {
    auto values = text.size() / 2;
    if (head_of_pool + values * sizeof(rapidjson::Value) > usual_size)
      values = static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
        return c == ',' || c == ':' || c == '[' || c == '{';
      }));
    return head_of_pool + values * sizeof(rapidjson::Value);
  }

  void set_text(std::string_view from) {
    if (from.size() >= text_size) {
      const auto size = std::max(usual_size, from.size() + from.size() / 2 + 1);
      text = std::make_unique_for_overwrite<char[]>(size);
      text_size = size;
    }
    std::memcpy(text.get(), from.data(), from.size());
    text[from.size()] = '\0';
  }

  void make_room(std::size_t size) {
    if (value && size <= room_size) {
      value->SetNull();
      pool->Clear();
      return;
    }
    value.reset();
    pool.reset();
    room_size = 0;
    size = std::max(usual_size, size);
    room = std::make_unique_for_overwrite<char[]>(size);
    room_size = size;
    pool.emplace(room.get(), room_size);
    value.emplace(&*pool, std::size_t{1} << 10, &stack);
  }

  std::unique_ptr<char[]> text;
  std::size_t text_size = 0;
  std::unique_ptr<char[]> room;
  std::size_t room_size = 0;
  CheckedAllocator stack;
  std::optional<Pool> pool;
  std::optional<rapidjson::GenericDocument<rapidjson::UTF8<>, Pool, CheckedAllocator>> value;
};

ParsedJson::ParsedJson() : memory_{std::make_unique<Memory>()} {
  memory_->make_room(0);
}
ParsedJson::ParsedJson(ParsedJson&&) noexcept = default;
ParsedJson& ParsedJson::operator=(ParsedJson&&) noexcept = default;
ParsedJson::~ParsedJson() = default;

rapidjson::Value& ParsedJson::read(std::string_view text) {
  if (constexpr std::string_view mark = "\xef\xbb\xbf"; text.starts_with(mark))
    text.remove_prefix(mark.size());
  memory_->make_room(Memory::needed(text));
  memory_->set_text(text);
  constexpr unsigned how = rapidjson::kParseIterativeFlag | rapidjson::kParseFullPrecisionFlag;
  memory_->value->ParseInsitu<how>(memory_->text.get());
  return *memory_->value;
}

const rapidjson::Value& ParsedJson::value() const {
  return *memory_->value;
}

}  // namespace coldtrace::cli

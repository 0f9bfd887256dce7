#include "coldtrace/syscall-map/hook-table/hook_table_encoder.hpp"

#include <algorithm>
#include <tuple>
#include <unordered_map>

#include <fmt/format.h>

#include "coldtrace/core/crc32c.hpp"
#include "coldtrace/core/hex.hpp"
#include "coldtrace/core/text.hpp"
#include "syscall-map/hook-table/hook_table_fields.hpp"

namespace coldtrace::syscall_map {
namespace {

using namespace hook_table_format;

using Bytes = std::vector<std::byte>;

template <class T>
void append(Bytes& bytes, T value) {
  for (std::size_t i = 0; i < sizeof(T); ++i)
    bytes.push_back(static_cast<std::byte>(static_cast<u64>(value) >> 8 * i & 0xff));
}

void patch_u32(Bytes& bytes, std::size_t offset, u32 value) {
  for (std::size_t i = 0; i < 4; ++i) bytes[offset + i] = static_cast<std::byte>(value >> 8 * i);
}

// The sections as they grow.
class Sections {
 public:
  Sections(const HookTableEncoding& encoding, bool trace_points, bool members)
      : encoding_{encoding}, trace_points_{trace_points}, members_{members} {
    text({});
  }

  // Of the version, the parts of a build's record that later versions have.
  u16 minor() const {
    return members_        ? minor_version_with_members
           : trace_points_ ? minor_version_with_trace_points
                           : minor_version;
  }
  bool has_range_of(Section section) const {
    return section == Section::members ? members_ : members_ || trace_points_;
  }

  bool is_there(Section section) const {
    return (section != Section::trace_points || trace_points_) &&
           (section != Section::members || members_);
  }

  u32 record_size(Section section) const {
    if (section != Section::builds) return sections[index(section)].record_size;
    return members_        ? build_size_with_members
           : trace_points_ ? build_size_with_trace_points
                           : sections[index(section)].record_size;
  }

  Bytes& operator[](Section section) { return bytes_[index(section)]; }

  u32 count(Section section) const {
    return static_cast<u32>(bytes_[index(section)].size() / record_size(section));
  }

  // Where a text stands in the pool; equal ones stand there once.
  u32 text(std::string_view text) {
    const auto known = texts_.find(std::string{text});
    if (known != texts_.end()) return known->second;
    if (text.find('\0') != text.npos) refuse(core::Fault::bad_value, "text", 0, text.find('\0'));
    auto& pool = (*this)[Section::texts];
    const auto offset = static_cast<u32>(pool.size());
    const auto view = std::as_bytes(std::span{text});
    pool.insert(pool.end(), view.begin(), view.end());
    pool.push_back(std::byte{0});
    texts_.emplace(text, offset);
    return offset;
  }

  bool keeps_evidence() const { return encoding_.evidence; }

  void refuse(core::Fault fault, core::Name field, u64 expected, u64 found) {
    if (!error_) error_ = core::ParseError{fault, 0, "hook table", field, expected, found};
  }

  const std::optional<core::ParseError>& error() const { return error_; }

 private:
  HookTableEncoding encoding_;
  bool trace_points_;
  bool members_;
  std::array<Bytes, section_count> bytes_;
  std::unordered_map<std::string, u32> texts_;
  std::optional<core::ParseError> error_;
};

// Writes the fields of one record, and what it refers to into the other sections.
class RecordEncoder {
 public:
  static constexpr bool decodes = false;

  explicit RecordEncoder(Sections& sections) : sections_{sections} {}

  template <class T>
  void number(std::string_view, const T& value) {
    if constexpr (std::is_enum_v<T>) {
      append(record_, static_cast<std::underlying_type_t<T>>(value));
    } else {
      append(record_, value);
    }
  }

  // Of a number that flags, or a value that it cannot have, say is none.
  template <class T>
  void number_where(bool, std::string_view name, const T& value) {
    number(name, value);
  }

  template <class T>
  void choice(std::string_view name, const T& value, T) {
    number(name, value);
  }

  template <class T>
  void optional_choice(std::string_view, const std::optional<T>& value, T) {
    append(record_, value ? static_cast<u8>(*value) : u8{0xff});
  }

  template <class T>
  void optional(std::string_view, const std::optional<T>& value) {
    using Stored = std::conditional_t<sizeof(T) == 8, u64, u32>;
    constexpr auto none = static_cast<Stored>(~u64{0});
    if (value && static_cast<Stored>(*value) == none)
      sections_.refuse(core::Fault::bad_value, "optional number", none - 1, none);
    append(record_, value ? static_cast<Stored>(*value) : none);
  }

  template <class... Bools>
  void flags(const Bit<Bools>&... bits) {
    u32 value = 0;
    u32 bit = 1;
    ((value |= bits.value ? bit : 0, bit <<= 1), ...);
    append(record_, value);
  }

  void padding(std::size_t count) { record_.resize(record_.size() + count); }
  void text(std::string_view, const std::string& text) { append(record_, sections_.text(text)); }

  void optional_text(std::string_view, const std::optional<std::string>& text) {
    append(record_, text ? sections_.text(*text) : absent);
  }

  void texts(std::string_view, const std::vector<std::string>& texts) {
    range(Section::words, texts.size());
    for (const auto& text : texts) append(sections_[Section::words], sections_.text(text));
  }

  void evidence(const std::vector<std::string>& sentences) {
    static const std::vector<std::string> none;
    texts("evidence", sections_.keeps_evidence() ? sentences : none);
  }

  // As one text: a section that readers may pass over owns no records of others.
  void lines(const std::vector<std::string>& sentences) {
    text("evidence", sections_.keeps_evidence() ? fmt::format("{}", fmt::join(sentences, "\n"))
                                                : std::string{});
  }

  template <class T>
  void words(std::string_view, const std::vector<T>& values) {
    range(Section::words, values.size());
    for (const auto value : values) append(sections_[Section::words], static_cast<u32>(value));
  }

  // Codes, and a sentence for each.
  template <class T, class Code>
  void reasons(std::string_view name, const std::vector<T>& reasons, Code) {
    std::vector<Code> codes;
    std::vector<std::string> sentences;
    for (const auto& reason : reasons) {
      codes.push_back(reason.code);
      sentences.push_back(reason.text);
    }
    words(name, codes);
    texts(name, sentences);
  }

  void bytes(std::string_view, const std::vector<u8>& values) {
    range(Section::bytes, values.size());
    for (const auto value : values) append(sections_[Section::bytes], value);
  }

  template <std::size_t Size>
  void fixed(std::string_view, const std::array<std::byte, Size>& bytes) {
    record_.insert(record_.end(), bytes.begin(), bytes.end());
  }

  void digest(std::string_view, const std::optional<std::string>& hex, bool) {
    constexpr std::size_t size = 32;
    auto bytes = core::parse_hex(hex.value_or("")).value_or(Bytes{});
    if (hex && bytes.size() != size)
      sections_.refuse(core::Fault::bad_value, "sha256", size, bytes.size());
    bytes.resize(size);
    record_.insert(record_.end(), bytes.begin(), bytes.end());
  }

  template <class T>
  void children(std::string_view, const std::vector<T>& records) {
    range(section_of<T>(), records.size());
    for (const auto& record : records) sections_add(record);
  }

  // Of a later version than the rest: a table that has none is of the earlier one.
  template <class T>
  void later_children(std::string_view name, const std::vector<T>& records) {
    if (sections_.has_range_of(section_of<T>())) children(name, records);
  }

  template <class T>
  void child(std::string_view, const std::optional<T>& record) {
    range(section_of<T>(), record ? 1 : 0);
    if (record) sections_add(*record);
  }

  void name_index(const std::vector<HookService>& services) {
    children("name_index", make_name_index(services));
  }

  const Bytes& record() const { return record_; }

 private:
  void range(Section section, std::size_t count) {
    append(record_, sections_.count(section));
    append(record_, static_cast<u32>(count));
  }

  // No record holds others of its own kind, so those of one list follow each other.
  template <class T>
  void sections_add(const T& record) {
    RecordEncoder encoder{sections_};
    describe(encoder, record);
    auto& section = sections_[section_of<T>()];
    section.insert(section.end(), encoder.record().begin(), encoder.record().end());
  }

  Sections& sections_;
  Bytes record_;
};

void check(const HookTable& build, Sections& sections) {
  if (build.trace_points.size() > most_trace_points)
    sections.refuse(core::Fault::limit, "trace points", most_trace_points,
                    build.trace_points.size());
  if (build.members.size() > most_members)
    sections.refuse(core::Fault::limit, "members", most_members, build.members.size());
  if (!std::is_sorted(build.images.begin(), build.images.end(),
                      [](const auto& a, const auto& b) { return a.role < b.role; }))
    sections.refuse(core::Fault::bad_value, "images", 0, 0);
  for (std::size_t i = 1; i < build.services.size(); ++i)
    if (build.services[i - 1].number >= build.services[i].number)
      sections.refuse(core::Fault::bad_value, "services", build.services[i - 1].number,
                      build.services[i].number);
}

core::Result<Bytes> join(Sections& contents) {
  std::vector<Section> present;
  for (std::size_t i = 0; i < section_count; ++i)
    if (const auto section = static_cast<Section>(i); contents.is_there(section))
      present.push_back(section);
  const auto count = present.size();
  u64 total = header_size + count * section_entry_size;
  for (const auto section : present) total += contents[section].size() + section_alignment;
  if (total > largest_hook_table)
    return core::fail(
        {core::Fault::limit, 0, "hook table", "file_size", largest_hook_table, total});
  Bytes file;
  const auto magic_bytes = std::as_bytes(std::span{magic});
  file.insert(file.end(), magic_bytes.begin(), magic_bytes.end());
  append(file, major_version);
  append(file, contents.minor());
  append(file, u32{0});  // file_size
  append(file, u32{0});  // crc32c
  append(file, static_cast<u32>(count));
  append(file, header_size);
  append(file, u32{0});
  file.resize(header_size + count * section_entry_size);
  for (std::size_t i = 0; i < count; ++i) {
    const auto section = present[i];
    file.resize((file.size() + section_alignment - 1) / section_alignment * section_alignment);
    const auto entry = header_size + i * section_entry_size;
    patch_u32(file, entry, sections[index(section)].tag);
    patch_u32(file, entry + 4, section == Section::members ? 0 : section_required);
    patch_u32(file, entry + 8, static_cast<u32>(file.size()));
    patch_u32(file, entry + 12, contents.record_size(section));
    patch_u32(file, entry + 16, contents.count(section));
    file.insert(file.end(), contents[section].begin(), contents[section].end());
  }
  patch_u32(file, crc_offset - 4, static_cast<u32>(file.size()));
  patch_u32(file, crc_offset, core::crc32c(file));
  return file;
}

auto order_of(const pe::Identity& identity) {
  return std::tuple{identity.time_date_stamp, identity.size_of_image, identity.checksum,
                    identity.machine};
}

}  // namespace

const HookTableImage* find_kernel(const HookTable& build) {
  const auto kernel =
      std::find_if(build.images.begin(), build.images.end(),
                   [](const HookTableImage& image) { return image.role == ImageRole::kernel; });
  return kernel == build.images.end() ? nullptr : &*kernel;
}

bool kernel_before(const pe::Identity& a, const pe::Identity& b) {
  return order_of(a) < order_of(b);
}

core::Result<Bytes> encode_hook_tables(std::span<const HookTable> builds,
                                       const HookTableEncoding& encoding) {
  const bool trace_points = std::any_of(builds.begin(), builds.end(), [](const HookTable& build) {
    return !build.trace_points.empty();
  });
  const bool members = std::any_of(builds.begin(), builds.end(),
                                   [](const HookTable& build) { return !build.members.empty(); });
  Sections contents{encoding, trace_points, members};
  std::vector<const HookTable*> sorted;
  for (const auto& build : builds) {
    sorted.push_back(&build);
    if (find_kernel(build) == nullptr)
      return core::fail({core::Fault::missing, 0, "hook table", "kernel", 1, 0});
  }
  const auto identity = [](const HookTable* build) -> const pe::Identity& {
    return find_kernel(*build)->identity;
  };
  std::sort(sorted.begin(), sorted.end(), [&](const HookTable* a, const HookTable* b) {
    return kernel_before(identity(a), identity(b));
  });
  for (std::size_t i = 1; i < sorted.size(); ++i)
    if (pe::same_headers(identity(sorted[i - 1]), identity(sorted[i])))
      contents.refuse(core::Fault::bad_value, "builds of one kernel", 1, 2);
  for (const auto* build : sorted) {
    check(*build, contents);
    RecordEncoder encoder{contents};
    describe(encoder, *build);
    auto& section = contents[Section::builds];
    section.insert(section.end(), encoder.record().begin(), encoder.record().end());
  }
  if (contents.error()) return core::fail(*contents.error());
  return join(contents);
}

}  // namespace coldtrace::syscall_map

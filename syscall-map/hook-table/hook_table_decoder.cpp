#include "coldtrace/syscall-map/hook-table/hook_table_decoder.hpp"

#include <algorithm>

#include "coldtrace/core/crc32c.hpp"
#include "coldtrace/core/hex.hpp"
#include "coldtrace/core/text.hpp"
#include "coldtrace/syscall-map/hook-table/hook_table_encoder.hpp"
#include "syscall-map/hook-table/hook_table_fields.hpp"

namespace coldtrace::syscall_map {
namespace {

using namespace hook_table_format;

// A table may name one long text from everywhere; what is read of texts stays in proportion to the
// file. A service takes some ninety bytes and has about three sentences, of a hundred bytes each.
constexpr u64 most_text_per_byte = 16;

struct SectionView {
  bool present = false;
  u64 offset = 0;
  u32 record_size = 0;
  u32 count = 0;
  u32 used = 0;  // records that belong to something already read
};

class Decoder {
 public:
  explicit Decoder(core::ByteView file) : file_{file} {}

  core::Result<std::vector<HookTable>> decode();

  // The records [first, first + count) of a section. Every record belongs to exactly one other, in
  // the order of these: nothing is read twice, however the table is made.
  bool claim(Section section, u32 first, u32 count) {
    auto& view = sections_[index(section)];
    if (first != view.used || count > view.count - view.used) {
      remember({core::Fault::out_of_bounds, view.offset, sections[index(section)].name, "range",
                view.used, first});
      return false;
    }
    view.used += count;
    return true;
  }

  core::ByteView record(Section section, u32 number) const {
    const auto& view = sections_[index(section)];
    return file_.subspan(view.offset + u64{number} * view.record_size, view.record_size);
  }

  u64 offset_of(Section section, u32 number) const {
    const auto& view = sections_[index(section)];
    return view.offset + u64{number} * view.record_size;
  }

  std::string text(u32 offset, u64 at) {
    const auto& view = sections_[index(Section::texts)];
    const auto pool = file_.subspan(view.offset, view.count);
    const auto found = offset < pool.size()
                           ? core::read_c_string(pool.subspan(offset), pool.size() - offset)
                           : std::nullopt;
    if (!found) {
      remember({core::Fault::out_of_bounds, at, "texts", "offset", pool.size(), offset});
      return {};
    }
    text_total_ += found->size();
    const auto most = most_text_per_byte * file_.size();
    if (text_total_ > most) remember({core::Fault::limit, at, "texts", "total", most, text_total_});
    return std::string{*found};
  }

  void remember(const core::ParseError& error) {
    if (!error_) error_ = error;
  }

  bool ok() const { return !error_; }

 private:
  void read_header();
  void read_section(core::Reader& in);
  void check_builds(const std::vector<HookTable>& builds);

  core::ByteView file_;
  std::array<SectionView, section_count> sections_{};
  u64 text_total_ = 0;
  std::optional<core::ParseError> error_;
};

// Reads the fields of one record, and what they refer to.
class RecordDecoder {
 public:
  static constexpr bool decodes = true;

  RecordDecoder(Decoder& decoder, Section section, u32 number)
      : decoder_{decoder},
        in_{decoder.record(section, number), sections[index(section)].name,
            decoder.offset_of(section, number)} {}

  template <class T>
  void number(std::string_view, T& value) {
    if constexpr (std::is_enum_v<T>) {
      value = static_cast<T>(in_.read<std::underlying_type_t<T>>("number"));
    } else {
      value = in_.read<T>("number");
    }
  }

  // Of a number that flags, or a value that it cannot have, say is none.
  template <class T>
  void number_where(bool, std::string_view name, T& value) {
    number(name, value);
  }

  template <class T>
  void choice(std::string_view, T& value, T last) {
    const auto at = in_.offset();
    const auto found = in_.read_u8("choice");
    if (found > static_cast<u8>(last))
      in_.reject(core::Fault::bad_value, at, "choice", static_cast<u8>(last), found);
    value = static_cast<T>(found);
  }

  template <class T>
  void optional_choice(std::string_view, std::optional<T>& value, T last) {
    const auto at = in_.offset();
    const auto found = in_.read_u8("choice");
    if (found == 0xff) return;
    if (found > static_cast<u8>(last))
      in_.reject(core::Fault::bad_value, at, "choice", static_cast<u8>(last), found);
    value = static_cast<T>(found);
  }

  template <class T>
  void optional(std::string_view, std::optional<T>& value) {
    using Stored = std::conditional_t<sizeof(T) == 8, u64, u32>;
    const auto at = in_.offset();
    const auto stored = in_.read<Stored>("number");
    if (stored == static_cast<Stored>(~u64{0})) return;
    value = static_cast<T>(stored);
    if (static_cast<Stored>(*value) != stored)
      in_.reject(core::Fault::bad_value, at, "number", 0xff, stored);
  }

  template <class... Bools>
  void flags(const Bit<Bools>&... bits) {
    const auto value = in_.read_u32("flags");
    u32 bit = 1;
    ((bits.value = (value & bit) != 0, bit <<= 1), ...);
  }

  void padding(std::size_t count) { in_.skip(count, "padding"); }

  void text(std::string_view, std::string& text) {
    const auto at = in_.offset();
    text = decoder_.text(in_.read_u32("text"), at);
  }

  void optional_text(std::string_view, std::optional<std::string>& text) {
    const auto at = in_.offset();
    const auto offset = in_.read_u32("text");
    if (offset != absent) text = decoder_.text(offset, at);
  }

  void texts(std::string_view, std::vector<std::string>& texts) {
    each(Section::words, [&](core::Reader& in) {
      const auto at = in.offset();
      texts.push_back(decoder_.text(in.read_u32("text"), at));
    });
  }

  void evidence(std::vector<std::string>& sentences) { texts("evidence", sentences); }

  void lines(std::vector<std::string>& sentences) {
    std::string joined;
    text("evidence", joined);
    for (std::size_t at = 0; !joined.empty() && at <= joined.size();) {
      const auto end = std::min(joined.find('\n', at), joined.size());
      sentences.push_back(joined.substr(at, end - at));
      at = end + 1;
    }
  }

  template <class T>
  void words(std::string_view, std::vector<T>& values) {
    each(Section::words, [&](core::Reader& in) {
      const auto at = in.offset();
      const auto value = in.read_u32("number");
      values.push_back(static_cast<T>(value));
      if (static_cast<u32>(values.back()) != value)
        decoder_.remember({core::Fault::bad_value, at, "words", "number", 0xffff, value});
    });
  }

  // Codes, and a sentence for each.
  template <class T, class Code>
  void reasons(std::string_view name, std::vector<T>& reasons, Code last) {
    const auto at = in_.offset();
    std::vector<Code> codes;
    std::vector<std::string> sentences;
    words(name, codes);
    texts(name, sentences);
    if (codes.size() != sentences.size())
      in_.reject(core::Fault::bad_value, at, "count", codes.size(), sentences.size());
    for (std::size_t i = 0; i < codes.size() && in_.ok(); ++i) {
      if (codes[i] > last)
        in_.reject(core::Fault::bad_value, at, "reason", static_cast<u8>(last),
                   static_cast<u8>(codes[i]));
      reasons.push_back({codes[i], std::move(sentences[i])});
    }
  }

  void bytes(std::string_view, std::vector<u8>& values) {
    each(Section::bytes, [&](core::Reader& in) { values.push_back(in.read_u8("byte")); });
  }

  template <std::size_t Size>
  void fixed(std::string_view, std::array<std::byte, Size>& bytes) {
    const auto view = in_.take(Size, "bytes");
    std::copy(view.begin(), view.end(), bytes.begin());
  }

  void digest(std::string_view, std::optional<std::string>& hex, bool present) {
    const auto view = in_.take(32, "sha256");
    if (present) hex = core::to_hex(view);
  }

  template <class T>
  void children(std::string_view, std::vector<T>& records) {
    const auto first = in_.read_u32("first");
    const auto count = in_.read_u32("count");
    constexpr auto section = section_of<T>();
    if (!in_.ok() || !decoder_.claim(section, first, count)) return;
    for (u32 i = 0; i < count && decoder_.ok(); ++i) {
      RecordDecoder record{decoder_, section, first + i};
      describe(record, records.emplace_back());
      record.finish();
    }
  }

  // Of a later version than the rest of the record, which may end before.
  template <class T>
  void later_children(std::string_view name, std::vector<T>& records) {
    constexpr u64 range_size = 8;
    if (in_.ok() && in_.remaining() >= range_size) children(name, records);
  }

  template <class T>
  void child(std::string_view name, std::optional<T>& record) {
    const auto at = in_.offset();
    std::vector<T> records;
    children(name, records);
    if (records.size() > 1)
      in_.reject(core::Fault::bad_value, at, "count", 1, records.size());
    else if (!records.empty())
      record = std::move(records.front());
  }

  void name_index(const std::vector<HookService>& services) {
    const auto at = in_.offset();
    std::vector<NameIndexEntry> entries;
    children("name_index", entries);
    if (entries != make_name_index(services))
      in_.reject(core::Fault::bad_value, at, "name index", 0, entries.size());
  }

  void finish() {
    if (!in_.ok()) decoder_.remember(in_.error());
  }

 private:
  template <class Read>
  void each(Section section, Read&& read) {
    const auto first = in_.read_u32("first");
    const auto count = in_.read_u32("count");
    if (!in_.ok() || !decoder_.claim(section, first, count)) return;
    for (u32 i = 0; i < count && decoder_.ok(); ++i) {
      core::Reader in{decoder_.record(section, first + i), sections[index(section)].name,
                      decoder_.offset_of(section, first + i)};
      read(in);
    }
  }

  Decoder& decoder_;
  core::Reader in_;
};

void Decoder::read_section(core::Reader& in) {
  const auto at = in.offset();
  const auto found_tag = in.read_u32("tag");
  const auto flags = in.read_u32("flags");
  const auto offset = in.read_u32("offset");
  const auto record_size = in.read_u32("record_size");
  const auto count = in.read_u32("count");
  if (!in.ok()) return;
  // The product of two 32-bit numbers fits 64 bits.
  if (!core::slice(file_, offset, u64{record_size} * count))
    return in.reject(core::Fault::out_of_bounds, at, "offset", file_.size(), offset);
  const auto kind = std::find_if(sections.begin(), sections.end(),
                                 [&](const SectionKind& known) { return known.tag == found_tag; });
  if (kind == sections.end()) {
    if ((flags & section_required) != 0)
      in.reject(core::Fault::unsupported, at, "tag", 0, found_tag);
    return;
  }
  auto& view = sections_[static_cast<std::size_t>(kind - sections.begin())];
  if (view.present) return in.reject(core::Fault::bad_value, at, "tag", 0, found_tag);
  // Of texts and bytes there is nothing to append to.
  const bool fits = kind->record_size == 1 ? record_size == 1 : record_size >= kind->record_size;
  if (!fits)
    return in.reject(core::Fault::bad_value, at, "record_size", kind->record_size, record_size);
  view = {true, offset, record_size, count, 0};
}

void Decoder::read_header() {
  core::Reader in{file_, "hook table", 0};
  const auto found = in.read_chars<8>("magic");
  if (in.ok() && std::string_view{found.data(), found.size()} != magic)
    in.reject(core::Fault::bad_magic, 0, "magic", 0, 0);
  const auto major = in.read_u16("major_version");
  in.skip(2, "minor_version");
  if (in.ok() && major != major_version)
    in.reject(core::Fault::unsupported, 8, "major_version", major_version, major);
  const auto size = in.read_u32("file_size");
  const auto crc = in.read_u32("crc32c");
  const auto count = in.read_u32("section_count");
  const auto offset = in.read_u32("sections_offset");
  in.skip(4, "reserved");
  if (in.ok() && size != file_.size())
    in.reject(core::Fault::truncated, 12, "file_size", size, file_.size());
  if (in.ok()) {
    constexpr std::byte zeros[4]{};
    const auto before = core::crc32c(core::crc32c(file_.first(crc_offset)), zeros);
    const auto computed = core::crc32c(before, file_.subspan(crc_offset + 4));
    if (computed != crc) in.reject(core::Fault::bad_value, crc_offset, "crc32c", computed, crc);
  }
  const auto entries = core::slice(file_, offset, u64{count} * section_entry_size);
  if (in.ok() && !entries)
    in.reject(core::Fault::out_of_bounds, 24, "sections_offset", file_.size(), offset);
  if (!in.ok()) return remember(in.error());
  core::Reader section{*entries, "section", offset};
  for (u32 i = 0; i < count && section.ok(); ++i) read_section(section);
  if (!section.ok()) return remember(section.error());
  for (std::size_t i = 0; i < section_count_1_0; ++i)
    if (!sections_[i].present)
      return remember({core::Fault::bad_value, offset, sections[i].name, "tag", 1, 0});
  const auto& texts = sections_[index(Section::texts)];
  if (texts.count == 0 || file_[texts.offset + texts.count - 1] != std::byte{0})
    remember({core::Fault::bad_value, texts.offset, "texts", "last byte", 0, 1});
}

void Decoder::check_builds(const std::vector<HookTable>& builds) {
  const auto refuse = [&](core::Name field) {
    remember(
        {core::Fault::bad_value, sections_[index(Section::builds)].offset, "builds", field, 0, 0});
  };
  for (std::size_t i = 0; i < builds.size(); ++i) {
    const auto& images = builds[i].images;
    const auto& services = builds[i].services;
    if (images.empty() || images.front().role != ImageRole::kernel) return refuse("kernel");
    if (builds[i].trace_points.size() > most_trace_points)
      return remember({core::Fault::limit, sections_[index(Section::trace_points)].offset,
                       "trace points", "count", most_trace_points, builds[i].trace_points.size()});
    if (builds[i].members.size() > most_members)
      return remember({core::Fault::limit, sections_[index(Section::members)].offset, "members",
                       "count", most_members, builds[i].members.size()});
    if (!std::is_sorted(images.begin(), images.end(),
                        [](const auto& a, const auto& b) { return a.role < b.role; }))
      return refuse("order of images");
    if (i > 0 && !kernel_before(builds[i - 1].images.front().identity, images.front().identity))
      return refuse("order");
    for (std::size_t j = 1; j < services.size(); ++j)
      if (services[j - 1].number >= services[j].number) return refuse("order of services");
  }
}

core::Result<std::vector<HookTable>> Decoder::decode() {
  read_header();
  std::vector<HookTable> builds;
  const auto count = sections_[index(Section::builds)].count;
  for (u32 i = 0; i < count && ok(); ++i) {
    RecordDecoder record{*this, Section::builds, i};
    describe(record, builds.emplace_back());
    record.finish();
  }
  if (ok()) check_builds(builds);
  if (!ok()) return core::fail(*error_);
  return builds;
}

}  // namespace

core::Result<std::vector<HookTable>> decode_hook_tables(core::ByteView file) {
  return Decoder{file}.decode();
}

bool is_hook_table(core::ByteView file) {
  return core::to_chars(file).starts_with(magic);
}

}  // namespace coldtrace::syscall_map

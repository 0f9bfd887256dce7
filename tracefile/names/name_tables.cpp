#include "coldtrace/tracefile/names/name_tables.hpp"

#include <algorithm>
#include <iterator>
#include <limits>
#include <tuple>

#include <fmt/compile.h>

namespace coldtrace::tracefile {
namespace {

using Verb = NameRecord::Verb;

constexpr i64 always = std::numeric_limits<i64>::min();
constexpr i64 for_ever = std::numeric_limits<i64>::max();
constexpr u32 no_process = 0;  // images of the kernel are those of process 0
constexpr u32 system_process = 4;
// How many images at lower addresses are looked at for one that was there at the time.
constexpr int most_images_tried = 32;
// SizeOfImage has 32 bits: what begins farther before an address does not reach to it.
constexpr u64 largest_image = u64{1} << 32U;

// The System process has images at addresses of users as well, which are its own.
bool can_be_kernel(u64 address) {
  constexpr u64 first_32 = 0x8000'0000;
  constexpr u64 end_32 = 0x1'0000'0000;
  return address >> 63U != 0 || (address >= first_32 && address < end_32);
}

// Images are told apart by their process, which the key of a state must hold.
u64 image_key(u32 owner, u64 base) {
  return base ^ (u64{owner} << 40 | owner >> 8);
}

u64 state_key(const NameRecord& record) {
  return record.subject == NameRecord::Subject::image ? image_key(record.owner, record.key)
                                                      : record.key;
}

TracedImage image_file_of(const NameRecord& record, std::string_view name) {
  TracedImage file;
  file.time_date_stamp = record.time_date_stamp;
  file.checksum = record.checksum;
  if (record.length <= std::numeric_limits<u32>::max())
    file.size_of_image = static_cast<u32>(record.length);
  file.name = name;
  return file;
}

// What another event adds; nothing where both speak of different files.
void add_to(TracedImage& file, const TracedImage& said) {
  const auto differ = [](u32 one, u32 other) { return one != 0 && other != 0 && one != other; };
  if (differ(file.time_date_stamp, said.time_date_stamp) || differ(file.checksum, said.checksum))
    return;
  if (file.time_date_stamp == 0) file.time_date_stamp = said.time_date_stamp;
  if (file.checksum == 0) file.checksum = said.checksum;
  file.portable_pdb |= said.portable_pdb;
  file.has_il_pdb |= said.has_il_pdb;
  if (file.pdb_guid != core::Guid{}) return;
  file.pdb_guid = said.pdb_guid;
  file.pdb_age = said.pdb_age;
  file.pdb_name = said.pdb_name;
}

// "mscorlib.dll!System.String.Concat+0x12" of a method that has the address.
void append_place(std::string& text, const NameTables::Method& method, u64 address) {
  text += method.module.substr(method.module.rfind('\\') + 1);
  if (!method.module.empty()) text += '!';
  text += method.name;
  if (address != method.start)
    fmt::format_to(std::back_inserter(text), FMT_COMPILE("+{:#x}"), address - method.start);
}

}  // namespace

u32 TextPool::add(std::string_view text) {
  if (text.empty()) return 0;
  if (const auto known = ids_.find(text); known != ids_.end()) return known->second;
  const auto place = ids_.emplace(text, static_cast<u32>(texts_.size())).first;
  texts_.push_back(place->first);
  bytes_ += 2 * sizeof(std::string) + 16 + text.size();
  return place->second;
}

void NameTables::add(const NameRecords& records, core::Findings& findings) {
  for (const auto& record : records.all()) {
    if (bytes() > largest_bytes_) {
      findings.warning("names-limit", std::nullopt,
                       "names of processes, files and so on fill {} bytes; more are not kept",
                       largest_bytes_);
      drop(record);
      continue;
    }
    if (record.subject == Subject::stack) {
      if (!stacks_.add(record, records.frames(record)))
        findings.warning("stack-limit", std::nullopt,
                         "a cached stack of {} frames is not kept: no kernel takes more than {}",
                         record.count, StackTable::most_frames);
    } else {
      add_named(record, records.text(record));
    }
  }
  for (const auto& record : records.image_files())
    if (bytes() <= largest_bytes_) add_image_file(record);
  for (const auto& record : records.managed()) {
    if (bytes() <= largest_bytes_) {
      managed_.add(record, texts_.add(record.name));
      continue;
    }
    findings.warning("names-limit", std::nullopt,
                     "names of processes, files and so on fill {} bytes; more are not kept",
                     largest_bytes_);
    managed_.drop(record);
  }
  for (const auto& change : records.sampling_intervals())
    if (bytes() <= largest_bytes_) sampling_intervals_.add(change);
}

void NameTables::drop(const NameRecord& record) {
  if (record.subject == Subject::stack) {
    stacks_.drop(record);
    return;
  }
  auto& first = first_dropped_[static_cast<std::size_t>(record.subject)];
  first = std::min(first.value_or(record.time), record.time);
}

void NameTables::add_named(const NameRecord& record, std::string_view text) {
  const auto value = record.subject == Subject::image
                         ? image_files_.add(image_file_of(record, text))
                         : texts_.add(text);
  auto& states = states_[static_cast<std::size_t>(record.subject)];
  const auto [place, is_new] = states.try_emplace(
      state_key(record), State{record.verb, false, record.verb, value, record.owner, record.time});
  auto& state = *place;
  if (!is_new && is_repetition(record, value, state)) {
    state.repeating = record.verb;
    state.repeated = std::max(state.repeated, record.time);
    state.dropped = true;
    return;
  }
  if (!is_new && state.dropped) {
    auto last = record;
    last.verb = state.repeating;
    last.owner = state.owner;
    last.time = state.repeated;
    if (record.subject == Subject::image)
      if (const auto size = image_files_[state.value].size_of_image; size != 0) last.length = size;
    keep(last, state.value);
  }
  state = {record.verb, false, record.verb, value, record.owner, record.time};
  keep(record, value);
}

// A rundown tells of an image that is there already, as the one before may have done.
bool NameTables::is_repetition(const NameRecord& record, u32 value, const State& state) const {
  if (state.value != value || state.owner != record.owner) return false;
  const bool told = record.verb == Verb::exists_before || record.verb == Verb::exists_after;
  return state.verb == record.verb || (record.subject == Subject::image && told &&
                                       state.verb != Verb::ends && record.time >= state.repeated);
}

void NameTables::keep(const NameRecord& record, u32 value) {
  if (record.subject == Subject::image) {
    image_records_.push_back({record, value});
    auto& changed = *image_changes_.try_emplace(state_key(record), record.time).first;
    changed = std::max(changed, record.time);
  } else {
    timeline(record.subject)
        .add({record.key, record.time, record.owner, value & 0x3fff'ffffU,
              static_cast<u32>(record.verb) & 3U});
  }
}

// What was said before of an image that has not changed since says nothing new.
void NameTables::add_image_file(const ImageFileRecord& record) {
  TracedImage said;
  said.time_date_stamp = record.time_date_stamp;
  said.checksum = record.checksum;
  said.pdb_guid = record.pdb_guid;
  said.pdb_age = record.pdb_age;
  said.pdb_name = record.pdb_name;
  said.portable_pdb = record.portable_pdb;
  said.has_il_pdb = record.has_il_pdb;
  const auto saying = sayings_.add(said);
  const auto image = image_key(record.owner, record.base);
  const auto* const changed = image_changes_.find_value(image);
  const auto [last, is_new] =
      last_said_.try_emplace(image ^ (u64{saying} + 1) * 0x9e3779b97f4a7c15U, record.time);
  if (!is_new && changed != nullptr && *last >= *changed && record.time >= *last) return;
  *last = std::max(*last, record.time);
  images_said_.push_back({record.owner, saying, record.base, record.time});
}

void NameTables::finish() {
  for (auto& timeline : timelines_) timeline.finish();
  build_images();
  identify_images();
  stacks_.finish();
  sampling_intervals_.finish();
  managed_.finish();
  for (auto& states : states_) states = {};
}

void NameTables::build_images() {
  std::stable_sort(image_records_.begin(), image_records_.end(),
                   [](const ImageRecord& a, const ImageRecord& b) {
                     return std::tie(a.record.owner, a.record.key, a.record.time) <
                            std::tie(b.record.owner, b.record.key, b.record.time);
                   });
  for (const auto& [record, file] : image_records_) {
    ImageEntry* last = images_.empty() ? nullptr : &images_.back();
    if (last != nullptr && (last->pid != record.owner || last->base != record.key)) last = nullptr;
    const bool open = last != nullptr && last->to == for_ever;
    switch (record.verb) {
      case Verb::begins:
        if (open) last->to = record.time;
        images_.push_back({record.owner, file, record.key, record.length, record.time, for_ever});
        break;
      case Verb::exists_before:
        if (!open)
          images_.push_back({record.owner, file, record.key, record.length, always, for_ever});
        break;
      case Verb::ends:
      case Verb::exists_after: {
        const i64 to = record.verb == Verb::ends ? record.time : for_ever;
        if (open) {
          last->to = to;
        } else {
          const i64 from = last == nullptr ? always : last->to;
          images_.push_back({record.owner, file, record.key, record.length, from, to});
        }
        break;
      }
    }
  }
  image_records_ = {};
}

void NameTables::identify_images() {
  for (const auto& said : images_said_) {
    const auto [first, last] = std::equal_range(
        images_.begin(), images_.end(), ImageEntry{said.owner, 0, said.base, 0, 0, 0},
        [](const ImageEntry& a, const ImageEntry& b) {
          return std::tie(a.pid, a.base) < std::tie(b.pid, b.base);
        });
    auto at = std::partition_point(
        first, last, [&](const ImageEntry& entry) { return entry.from <= said.time; });
    // The time of what is said of an image is that of its load, or of its end.
    for (int tried = 0; at != first && tried < most_images_tried; ++tried) {
      --at;
      if (at->from > said.time || said.time > at->to) continue;
      auto file = image_files_[at->file];
      add_to(file, sayings_[said.saying]);
      at->file = image_files_.add(file);
      break;
    }
  }
  images_said_ = {};
  last_said_ = {};
  image_changes_ = {};
  sayings_ = {};
}

std::optional<std::string_view> NameTables::find_name(Subject subject, u64 key, i64 time) const {
  const auto* entry = find(subject, key, time);
  if (entry == nullptr || entry->value == 0) return std::nullopt;
  return texts_.text(entry->value);
}

std::optional<std::string_view> NameTables::find_process(u32 pid, i64 time) const {
  return find_name(Subject::process, pid, time);
}

std::optional<std::string_view> NameTables::find_process(u32 pid, i64 time,
                                                         NameValidity& validity) const {
  const auto* entry = find(Subject::process, pid, time, validity);
  if (entry == nullptr || entry->value == 0) return std::nullopt;
  return texts_.text(entry->value);
}

std::optional<NameTables::Thread> NameTables::find_thread(u32 tid, i64 time) const {
  const auto* entry = find(Subject::thread, tid, time);
  if (entry == nullptr) return std::nullopt;
  return Thread{entry->owner, texts_.text(entry->value)};
}

std::optional<u32> NameTables::find_process_of(u32 tid, i64 time) const {
  if (tid == 0) return no_process;
  const auto* entry = find(Subject::thread, tid, time);
  return entry == nullptr ? std::nullopt : std::optional{entry->owner};
}

std::optional<std::string_view> NameTables::find_file(u64 object, i64 time) const {
  return find_name(Subject::file, object, time);
}

std::optional<std::string_view> NameTables::find_registry_key(u64 handle, i64 time) const {
  return find_name(Subject::registry_key, handle, time);
}

std::optional<NameTables::Image> NameTables::find_image_of(u32 pid, u64 address, i64 time,
                                                           NameValidity& validity) const {
  auto at = std::upper_bound(images_.begin(), images_.end(), std::pair{pid, address},
                             [](const std::pair<u32, u64>& wanted, const ImageEntry& entry) {
                               return std::tie(wanted.first, wanted.second) <
                                      std::tie(entry.pid, entry.base);
                             });
  const ImageEntry* later = nullptr;  // the next one that will cover it
  for (int tried = 0; at != images_.begin() && tried < most_images_tried; ++tried) {
    --at;
    if (at->pid != pid || address - at->base >= largest_image) break;
    if (address - at->base >= at->size) continue;
    validity.changes_at(at->from);
    validity.changes_at(at->to);
    if (at->from <= time && time < at->to)
      return Image{image_files_[at->file].name, at->base, at->file};
    if (at->from > time && (later == nullptr || at->from < later->from)) later = &*at;
  }
  // The first thread of a process is told of before its first image, whose code it begins with.
  if (later == nullptr || can_be_kernel(address)) return std::nullopt;
  const auto* const process = find(Subject::process, pid, time, validity);
  if (process == nullptr || process != find(Subject::process, pid, later->from))
    return std::nullopt;
  auto image = std::partition_point(images_.begin(), images_.end(),
                                    [&](const ImageEntry& entry) { return entry.pid < pid; });
  for (; image != images_.end() && image->pid == pid; ++image) {
    validity.changes_at(image->from);
    validity.changes_at(image->to);
    if (image->from > time) continue;
    if (time < image->to || find(Subject::process, pid, image->from) == process)
      return std::nullopt;
  }
  return Image{image_files_[later->file].name, later->base, later->file};
}

std::optional<NameTables::Image> NameTables::find_image(std::optional<u32> pid, u64 address,
                                                        i64 time) const {
  NameValidity validity{time};
  return find_image(pid, address, time, validity);
}

std::optional<NameTables::Image> NameTables::find_image(std::optional<u32> pid, u64 address,
                                                        i64 time, NameValidity& validity) const {
  if (!is_known(Subject::image, time, validity)) return std::nullopt;
  if (pid)
    if (const auto image = find_image_of(*pid, address, time, validity)) return image;
  if (!can_be_kernel(address)) return std::nullopt;
  for (const auto owner : {no_process, system_process})
    if (const auto image = find_image_of(owner, address, time, validity)) return image;
  return std::nullopt;
}

std::optional<NameTables::Method> NameTables::find_method(std::optional<u32> pid, u64 address,
                                                          i64 time) const {
  NameValidity validity{time};
  return find_method(pid, address, time, validity);
}

std::optional<NameTables::Method> NameTables::find_method(std::optional<u32> pid, u64 address,
                                                          i64 time, NameValidity& validity) const {
  if (!pid || address >> 63U != 0) return std::nullopt;
  const auto method = managed_.find(*pid, address, time, validity);
  if (!method) return std::nullopt;
  // Nothing is unloaded when a process ends: who has its id later has other code.
  if (find(Subject::process, *pid, method->told) != find(Subject::process, *pid, time, validity))
    return std::nullopt;
  auto module = texts_.text(method->module);
  if (method->is_entry_point) {
    const auto image = find_image(pid, address, time, validity);
    if (image ? image->base > method->start : address != method->start) return std::nullopt;
    if (image) module = image->name;
  }
  return Method{texts_.text(method->name), module, method->flags, method->number, method->start,
                method->is_entry_point};
}

void NameTables::append_address(std::string& text, std::optional<u32> pid, u64 address, i64 time,
                                ImageForm form, NameValidity& validity) const {
  if (const auto method = find_method(pid, address, time, validity)) {
    append_place(text, *method, address);
  } else if (const auto image = find_image(pid, address, time, validity)) {
    text += form == ImageForm::path ? image->name : image->name.substr(image->name.rfind('\\') + 1);
    fmt::format_to(std::back_inserter(text), FMT_COMPILE("+{:#x}"), address - image->base);
  }
}

std::string NameTables::name_address(std::optional<u32> pid, u64 address, i64 time) const {
  std::string text;
  NameValidity validity{time};
  append_address(text, pid, address, time, ImageForm::file, validity);
  return text;
}

std::size_t NameTables::entries() const {
  std::size_t count = images_.size() + image_records_.size() + stacks_.size() + managed_.size();
  for (const auto& timeline : timelines_) count += timeline.size();
  return count;
}

std::size_t NameTables::bytes() const {
  std::size_t bytes = texts_.bytes() + images_.capacity() * sizeof(ImageEntry) +
                      image_records_.capacity() * sizeof(ImageRecord) +
                      images_said_.capacity() * sizeof(ImageSaid) + sayings_.bytes() +
                      image_changes_.bytes() + last_said_.bytes() + image_files_.bytes() +
                      stacks_.bytes() + sampling_intervals_.bytes() + managed_.bytes();
  for (const auto& timeline : timelines_) bytes += timeline.bytes();
  for (const auto& states : states_) bytes += states.bytes();
  return bytes;
}

}  // namespace coldtrace::tracefile

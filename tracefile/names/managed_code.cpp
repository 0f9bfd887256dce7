#include "coldtrace/tracefile/names/managed_code.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>
#include <tuple>

#include "coldtrace/core/checked.hpp"
#include "coldtrace/core/text.hpp"
#include "coldtrace/core/utf16.hpp"

namespace coldtrace::tracefile {
namespace {

using Verb = ManagedRecord::Verb;

constexpr auto runtime = *core::parse_guid("e13c0d23-ccbc-4e12-931b-d9cc2eee27e4");
constexpr auto rundown = *core::parse_guid("a669021c-c450-4609-a035-5af59af4df18");

constexpr i64 always = std::numeric_limits<i64>::min();
constexpr i64 for_ever = std::numeric_limits<i64>::max();
// How many methods at lower addresses are looked at for one that reaches to an address.
constexpr int most_starts_tried = 8;
constexpr std::size_t longest_name = 1024;
constexpr unsigned known_code_bits = 16;

// Of an entry point's code at most: what lies farther behind it is another's.
constexpr u64 longest_code = u64{1} << 20;

enum class Form : u8 { method, named_method, entry_point, module, domain_module };

struct Kind {
  u16 id;
  Form form;
  Verb verb;
};

constexpr std::array runtime_kinds = {
    Kind{137, Form::method, Verb::exists_before},
    Kind{138, Form::method, Verb::exists_after},
    Kind{139, Form::named_method, Verb::exists_before},
    Kind{140, Form::named_method, Verb::exists_after},
    Kind{141, Form::method, Verb::begins},
    Kind{142, Form::method, Verb::ends},
    Kind{143, Form::named_method, Verb::begins},
    Kind{144, Form::named_method, Verb::ends},
    Kind{149, Form::module, Verb::exists_before},
    Kind{150, Form::module, Verb::exists_after},
    Kind{151, Form::domain_module, Verb::begins},
    Kind{152, Form::module, Verb::begins},
    Kind{153, Form::module, Verb::ends},
    Kind{159, Form::entry_point, Verb::exists_before},
};
constexpr std::array rundown_kinds = {
    Kind{141, Form::method, Verb::exists_before},
    Kind{142, Form::method, Verb::exists_after},
    Kind{143, Form::named_method, Verb::exists_before},
    Kind{144, Form::named_method, Verb::exists_after},
    Kind{151, Form::domain_module, Verb::exists_before},
    Kind{152, Form::domain_module, Verb::exists_after},
    Kind{153, Form::module, Verb::exists_before},
    Kind{154, Form::module, Verb::exists_after},
};

const Kind* find_kind(const Event& event) {
  const auto look = [&](const auto& kinds) -> const Kind* {
    const auto* const found = std::find_if(kinds.begin(), kinds.end(),
                                           [&](const Kind& kind) { return kind.id == event.id; });
    return found == kinds.end() ? nullptr : found;
  };
  if (event.event_class != EventClass::manifest) return nullptr;
  if (event.provider == runtime) return look(runtime_kinds);
  return event.provider == rundown ? look(rundown_kinds) : nullptr;
}

// The text up to a NUL, which `at` moves behind.
std::string take_text(core::ByteView payload, std::size_t& at) {
  const auto units = core::until_nul_unit(payload.subspan(std::min(at, payload.size())));
  at += units.size() + 2;
  auto text = core::decode_exact(units.first(std::min(units.size(), 2 * longest_name)));
  text.resize(core::cut_exact(text, longest_name).size());
  return text;
}

// "Namespace.Type.Method" of the two texts at `at`, which it moves behind them.
std::string take_method_name(core::ByteView payload, std::size_t& at) {
  auto name = take_text(payload, at);
  const auto own = take_text(payload, at);
  if (!name.empty() && !own.empty()) name += '.';
  return name + own;
}

bool read_method(const Event& event, bool is_named, ManagedRecord& record) {
  constexpr std::size_t fixed_part = 36;
  const auto fields = core::Fields<fixed_part>::at(event.payload, 0);
  if (!fields) return false;
  record.method = fields->get<u64, 0>();
  record.module = fields->get<u64, 8>();
  record.start = fields->get<u64, 16>();
  record.size = fields->get<u32, 24>();
  record.flags = fields->get<u32, 32>();
  if (!is_named) return true;
  auto at = fixed_part;
  record.name = take_method_name(event.payload, at);
  return true;
}

// Names and signature lie before the address.
bool read_entry_point(const Event& event, ManagedRecord& record) {
  const auto method = core::load<u64>(event.payload, 0);
  if (!method) return false;
  record.of = ManagedRecord::Of::entry_point;
  record.method = *method;
  std::size_t at = sizeof(u64);
  record.name = take_method_name(event.payload, at);
  take_text(event.payload, at);
  const auto start = core::load<u64>(event.payload, at);
  record.start = start.value_or(0);
  return record.start != 0;
}

bool read_module(const Event& event, std::size_t path_at, ManagedRecord& record) {
  const auto id = core::load<u64>(event.payload, 0);
  if (!id || event.payload.size() < path_at) return false;
  record.of = ManagedRecord::Of::module;
  record.module = *id;
  record.name = take_text(event.payload, path_at);
  return true;
}

}  // namespace

std::optional<ManagedRecord> read_managed_record(const Event& event) {
  const auto* const kind = find_kind(event);
  if (kind == nullptr || !event.pid || !event.has_time) return std::nullopt;
  ManagedRecord record;
  record.verb = kind->verb;
  record.pid = *event.pid;
  record.time = event.timestamp;
  constexpr std::size_t module_path_at = 24;
  constexpr std::size_t domain_module_path_at = 32;
  bool whole = false;
  switch (kind->form) {
    case Form::method:
    case Form::named_method:
      whole = read_method(event, kind->form == Form::named_method, record);
      break;
    case Form::entry_point:
      whole = read_entry_point(event, record);
      break;
    case Form::module:
      whole = read_module(event, module_path_at, record);
      break;
    case Form::domain_module:
      whole = read_module(event, domain_module_path_at, record);
      break;
  }
  return whole ? std::optional{std::move(record)} : std::nullopt;
}

std::string_view method_tier(u32 flags) {
  constexpr std::array<std::string_view, 8> tiers = {"",
                                                     "MinOptJitted",
                                                     "Optimized",
                                                     "QuickJitted",
                                                     "OptimizedTier1",
                                                     "OptimizedTier1OSR",
                                                     "InstrumentedTier",
                                                     "InstrumentedTierOptimized"};
  return tiers[flags >> 7U & 7U];
}

bool is_cold_part(u32 flags) {
  return flags >> 28U != 0;  // the extent: 0 is the hot part
}

void ManagedCode::add(const ManagedRecord& record, u32 text) {
  if (record.of == ManagedRecord::Of::module) {
    if (text != 0) modules_.push_back({record.module, record.time, record.pid, text});
    return;
  }
  const auto code = add_code({record.start, record.module, record.pid, record.size, record.flags,
                              text, record.of == ManagedRecord::Of::entry_point});
  records_.push_back({record.time, code, record.verb});
}

// Each rundown tells of all methods, and so does each file of several. Some may be kept twice.
u32 ManagedCode::add_code(const Code& code) {
  if (known_codes_.empty()) known_codes_.resize(std::size_t{1} << known_code_bits);
  const auto hash = (code.start ^ code.size ^ u64{code.pid} << 40U ^ u64{code.name} << 20U) *
                    0x9e37'79b9'7f4a'7c15U;
  auto& known = known_codes_[hash >> (64U - known_code_bits)];
  if (known < codes_.size() && codes_[known] == code) return known;
  known = static_cast<u32>(codes_.size());
  codes_.push_back(code);
  return known;
}

void ManagedCode::drop(const ManagedRecord& record) {
  dropped_ = std::min(dropped_.value_or(record.time), record.time);
}

u32 ManagedCode::find_module(const Code& code, i64 time) const {
  const std::tuple wanted{code.pid, code.module, time};
  const auto after = std::upper_bound(
      modules_.begin(), modules_.end(), wanted, [](const auto& before, const Module& module) {
        return before < std::tuple{module.pid, module.id, module.time};
      });
  const auto is_it = [&](const Module& module) {
    return module.pid == code.pid && module.id == code.module;
  };
  // What only a rundown after the method names had its name before.
  if (after != modules_.begin() && is_it(*(after - 1))) return (after - 1)->name;
  return after != modules_.end() && is_it(*after) ? after->name : 0;
}

void ManagedCode::add_entry(const Record& record, i64 from, i64 to) {
  const auto& code = codes_[record.code];
  entries_.push_back({from, to, record.time, record.code,
                      code.is_entry_point ? 0 : find_module(code, record.time)});
}

// By process and start, each once, which makes the ranges; returns the range of each code. Records
// have the new numbers then.
std::vector<u32> ManagedCode::sort_codes() {
  std::vector<u32> order(codes_.size());
  std::iota(order.begin(), order.end(), u32{0});
  const auto key = [&](u32 number) {
    const auto& code = codes_[number];
    return std::tie(code.pid, code.start, code.size, code.flags, code.name, code.module,
                    code.is_entry_point);
  };
  std::sort(order.begin(), order.end(), [&](u32 a, u32 b) { return key(a) < key(b); });
  std::vector<Code> sorted;
  std::vector<u32> numbers(codes_.size());
  std::vector<u32> ranges(codes_.size());
  for (const auto number : order) {
    const auto& code = codes_[number];
    if (ranges_.empty() || ranges_.back().pid != code.pid || ranges_.back().start != code.start)
      ranges_.push_back({code.start, 0, code.pid, 0});
    if (sorted.empty() || sorted.back() != code) sorted.push_back(code);
    numbers[number] = static_cast<u32>(sorted.size() - 1);
    ranges[sorted.size() - 1] = static_cast<u32>(ranges_.size() - 1);
  }
  sorted.shrink_to_fit();
  codes_ = std::move(sorted);
  for (auto& record : records_) record.code = numbers[record.code];
  return ranges;
}

void ManagedCode::finish() {
  std::stable_sort(modules_.begin(), modules_.end(), [](const Module& a, const Module& b) {
    return std::tie(a.pid, a.id, a.time) < std::tie(b.pid, b.id, b.time);
  });
  known_codes_ = {};
  const auto ranges = sort_codes();
  std::stable_sort(records_.begin(), records_.end(), [&](const Record& a, const Record& b) {
    return std::tie(ranges[a.code], a.time) < std::tie(ranges[b.code], b.time);
  });
  std::optional<u32> last;
  for (const auto& record : records_) {
    const auto range = ranges[record.code];
    if (last != range) ranges_[range].first = static_cast<u32>(entries_.size());
    add_record(record, last != range);
    last = range;
  }
  records_ = {};
  measure();
}

void ManagedCode::add_record(const Record& record, bool begins_range) {
  auto* const last = begins_range ? nullptr : &entries_.back();
  const bool open = last != nullptr && last->to == for_ever;
  const auto& code = codes_[record.code];
  if (code.is_entry_point) {
    // Told of each time that someone asks for it; code that is told of with its size says more.
    if (open && (!codes_[last->code].is_entry_point || codes_[last->code].name == code.name))
      return;
    if (open) last->to = record.time;
    return add_entry(record, last == nullptr ? always : record.time, for_ever);
  }
  switch (record.verb) {
    case Verb::begins:
      if (open) last->to = record.time;
      add_entry(record, record.time, for_ever);
      break;
    case Verb::exists_before:
      if (!open) add_entry(record, last == nullptr ? always : last->to, for_ever);
      break;
    case Verb::ends:
    case Verb::exists_after: {
      const auto to = record.verb == Verb::ends ? record.time : for_ever;
      if (open)
        last->to = to;
      else
        add_entry(record, last == nullptr ? always : last->to, to);
      break;
    }
  }
}

// Code of entry points reaches to whatever begins next.
void ManagedCode::measure() {
  u64 reach = 0;
  for (std::size_t i = 0; i < ranges_.size(); ++i) {
    auto& range = ranges_[i];
    const bool is_last = i + 1 == ranges_.size() || ranges_[i + 1].pid != range.pid;
    const auto room = is_last ? longest_code : ranges_[i + 1].start - range.start;
    if (i == 0 || ranges_[i - 1].pid != range.pid) reach = 0;
    for (std::size_t k = range.first; k < first_behind(i); ++k) {
      auto& code = codes_[entries_[k].code];
      if (code.is_entry_point) code.size = static_cast<u32>(std::min(room, longest_code));
      reach = std::max(reach, core::saturating_add(code.start, code.size));
    }
    range.reach = reach;
  }
}

std::optional<ManagedCode::Method> ManagedCode::find(u32 pid, u64 address, i64 time,
                                                     NameValidity& validity) const {
  if (entries_.empty()) return std::nullopt;
  if (dropped_) validity.changes_at(*dropped_);
  if (dropped_ && time >= *dropped_) return std::nullopt;
  auto range = static_cast<std::size_t>(
      std::upper_bound(ranges_.begin(), ranges_.end(), std::pair{pid, address},
                       [](const std::pair<u32, u64>& wanted, const Range& one) {
                         return std::tie(wanted.first, wanted.second) <
                                std::tie(one.pid, one.start);
                       }) -
      ranges_.begin());
  for (int tried = 0; tried < most_starts_tried && range > 0; ++tried) {
    --range;
    if (ranges_[range].pid != pid || address >= ranges_[range].reach) return std::nullopt;
    const auto begin = entries_.begin() + ranges_[range].first;
    const auto end = entries_.begin() + static_cast<std::ptrdiff_t>(first_behind(range));
    const auto after =
        std::partition_point(begin, end, [&](const Entry& entry) { return entry.from <= time; });
    if (after != end) validity.changes_at(after->from);
    if (after == begin) continue;
    const auto& entry = *(after - 1);
    validity.changes_at(entry.from);
    validity.changes_at(entry.to);
    const auto& code = codes_[entry.code];
    if (time >= entry.to || address - code.start >= code.size) continue;
    if (code.name == 0) return std::nullopt;  // its runtime did not say
    return Method{code.name,          entry.module,
                  code.flags,         static_cast<u32>(after - 1 - entries_.begin()),
                  code.start,         entry.told,
                  code.is_entry_point};
  }
  return std::nullopt;
}

}  // namespace coldtrace::tracefile

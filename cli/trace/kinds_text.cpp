#include "cli/trace/kinds_text.hpp"

#include <algorithm>

#include "cli/output/text.hpp"
#include "coldtrace/core/display_width.hpp"
#include "coldtrace/tracefile/providers/event_members.hpp"

namespace coldtrace::cli {
namespace {

using tracefile::Decoded;
using tracefile::KindCount;

u64 exact_of(const KindCount& count) {
  return count.events[static_cast<std::size_t>(Decoded::exact)];
}

std::string name_of(const tracefile::EventKind& kind) {
  std::string number;
  if (number_of(kind))
    number = fmt::format(
        "{} {}", kind.event_class == tracefile::EventClass::classic ? "opcode" : "id", kind.id);
  if (version_of(kind)) number += fmt::format(" v{}", kind.version);
  if (kind.name.empty()) return number.empty() ? "no number" : number;
  return number.empty() ? printable(kind.name)
                        : fmt::format("{} ({})", printable(kind.name), number);
}

struct Counts {
  u64 events = 0, exact = 0;

  void add(const Counts& other) {
    events += other.events;
    exact += other.exact;
  }
};

Counts counts_of(const KindCount& kind) {
  return {kind.total(), exact_of(kind)};
}

struct Provider {
  std::vector<const KindCount*> kinds;
  Counts counts;
};

// Those of one provider stand together.
std::vector<Provider> by_provider(const std::vector<KindCount>& kinds, bool by_count) {
  std::vector<Provider> providers;
  for (const auto& kind : kinds) {
    if (providers.empty() || providers.back().kinds.front()->kind.provider != kind.kind.provider)
      providers.emplace_back();
    providers.back().kinds.push_back(&kind);
    providers.back().counts.add(counts_of(kind));
  }
  if (!by_count) return providers;
  for (auto& provider : providers)
    std::stable_sort(provider.kinds.begin(), provider.kinds.end(),
                     [](const auto* a, const auto* b) { return a->total() > b->total(); });
  std::stable_sort(providers.begin(), providers.end(),
                   [](const auto& a, const auto& b) { return a.counts.events > b.counts.events; });
  return providers;
}

class KindsText {
 public:
  KindsText(Output& output, const TextCharts& charts, const TraceSchemas* schemas, u64 most,
            u64 top)
      : output_{output}, charts_{charts}, schemas_{schemas}, most_{most}, top_{top} {}

  void write(const std::vector<Provider>& providers) {
    print(output_, "\n{:>12} {:>12}  {}{}\n", "events", "decoded", no_bar(), "provider, event");
    const auto shown = std::min<std::size_t>(providers.size(), top_);
    for (std::size_t i = 0; i < shown; ++i) write(providers[i]);
    Counts rest;
    for (auto i = shown; i < providers.size(); ++i) rest.add(providers[i].counts);
    write_rest(rest, providers.size() - shown, "", "more provider", "more providers");
    if (left_out_ > 0)
      print(output_, "({} left out: a wider terminal, a pipe or a file has all)\n",
            counted(left_out_, "GUID", "GUIDs"));
  }

 private:
  void write(const Provider& provider) {
    const auto& kind = provider.kinds.front()->kind;
    write_row(provider.counts, no_bar(),
              provider_text(printable(kind.provider_name), provider_of(kind),
                            width_of_counts + core::display_width(no_bar())));
    write_schemas(kind.provider);
    const auto shown = std::min<std::size_t>(provider.kinds.size(), top_);
    for (std::size_t i = 0; i < shown; ++i) write(*provider.kinds[i]);
    Counts rest;
    for (auto i = shown; i < provider.kinds.size(); ++i) rest.add(counts_of(*provider.kinds[i]));
    write_rest(rest, provider.kinds.size() - shown, "  ", "more kind", "more kinds");
  }

  void write(const KindCount& count) {
    const auto reason = count.undecoded_reason();
    const auto bar = has_bars() ? charts_.bar(static_cast<double>(count.total()),
                                              static_cast<double>(most_), bar_width) +
                                      "  "
                                : std::string{};
    write_row(counts_of(count), bar,
              fmt::format("  {}{}{}", name_of(count.kind), reason.empty() ? "" : "  ", reason));
  }

  void write_rest(const Counts& counts, std::size_t count, std::string_view indent,
                  std::string_view one, std::string_view several) {
    if (count > 0)
      write_row(counts, no_bar(),
                fmt::format("{}{} (--top)", indent, counted(count, one, several)));
  }

  void write_row(const Counts& counts, std::string_view bar, std::string_view what) {
    print(output_, "{:>12} {:>12}  {}{}\n", grouped(counts.events), grouped(counts.exact), bar,
          what);
  }

  void write_schemas(const core::Guid& provider) {
    if (schemas_ == nullptr) return;
    for (const auto file : schemas_->files_of(provider))
      print(output_, "{:<28} {}\n", "", printable(file));
    constexpr std::string_view messages_of = "  messages of ";
    if (const auto* const owner = schemas_->provider_of(provider))
      print(
          output_, "{:<{}}{}{}\n", "", width_of_counts, messages_of,
          provider_text(printable(owner->name), owner->guid, width_of_counts + messages_of.size()));
  }

  // The name, and the GUID behind it where a line that has `used` columns has room for both.
  std::string provider_text(std::string name, const std::optional<core::Guid>& guid,
                            std::size_t used) {
    if (!guid) return name.empty() ? "-" : name;
    auto number = core::to_string(*guid);
    if (name.empty()) return number;
    const auto width = used + core::display_width(name) + 1 + number.size();
    if (output_.columns() == 0 || width <= output_.columns()) return name + ' ' + number;
    ++left_out_;
    return name;
  }

  // A narrow terminal has room for names or bars.
  bool has_bars() const {
    constexpr std::size_t roomy = 100;
    return charts_.shown() && (output_.columns() == 0 || output_.columns() >= roomy);
  }

  std::string no_bar() const { return std::string(has_bars() ? bar_width + 2 : 0, ' '); }

  static constexpr std::size_t bar_width = 10;
  static constexpr std::size_t width_of_counts = 27;

  Output& output_;
  const TextCharts& charts_;
  const TraceSchemas* schemas_;
  u64 most_;  // events of one kind
  u64 top_;
  u64 left_out_ = 0;  // GUIDs that a narrow terminal has no room for
};

}  // namespace

void write_kinds_text(Output& output, const TextCharts& charts, u64 events,
                      const std::vector<KindCount>& kinds, const TraceSchemas* schemas,
                      const KindsShown& shown) {
  u64 exact = 0, most = 0;
  for (const auto& kind : kinds) {
    exact += exact_of(kind);
    most = std::max(most, kind.total());
  }
  print(output, "Events        {}, {} fully decoded\n", grouped(events), grouped(exact));
  if (!kinds.empty())
    KindsText{output, charts, schemas, most, shown.top}.write(by_provider(kinds, shown.by_count));
}

}  // namespace coldtrace::cli

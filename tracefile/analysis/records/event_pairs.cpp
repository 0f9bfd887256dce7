#include "coldtrace/trace_analysis/records/event_pairs.hpp"

#include "coldtrace/tracefile/selection/event_selection.hpp"

namespace coldtrace::trace_analysis {
namespace {

EventPair::Side parse_side(std::string_view text) {
  const auto mark = text.find('!');
  if (mark == std::string_view::npos) return {{}, std::string{text}};
  return {std::string{text.substr(0, mark)}, std::string{text.substr(mark + 1)}};
}

bool is_side(const EventPair::Side& side, const tracefile::EventKind& kind) {
  return (side.provider.empty() || tracefile::is_provider(side.provider, kind)) &&
         tracefile::is_event(side.event, kind);
}

std::string side_text(const EventPair::Side& side) {
  return side.provider.empty() ? side.event : side.provider + '!' + side.event;
}

}  // namespace

std::optional<EventPair> parse_event_pair(std::string_view text) {
  const auto equals = text.find('=');
  if (equals == std::string_view::npos) return std::nullopt;
  auto exit = text.substr(equals + 1);
  EventPair pair{std::string{text}, parse_side(text.substr(0, equals)), {}, {}};
  if (const auto at = exit.rfind('@'); at != std::string_view::npos) {
    pair.key = exit.substr(at + 1);
    exit = exit.substr(0, at);
    if (pair.key.empty()) return std::nullopt;
  }
  pair.exit = parse_side(exit);
  if (pair.enter.event.empty() || pair.exit.event.empty()) return std::nullopt;
  return pair;
}

std::vector<EventPairs::Role> EventPairs::roles_of(const tracefile::EventKind& kind) {
  if (kind.kept) {
    names_.emplace(kind.name);
    names_.emplace(tracefile::event_class_of(kind.name));
  }
  std::vector<Role> roles;
  for (const bool enters : {false, true})
    for (u32 i = 0; i < pairs_.size(); ++i) {
      if (!is_side(enters ? pairs_[i].enter : pairs_[i].exit, kind)) continue;
      (enters ? met_[i].enter : met_[i].exit) = true;
      roles.push_back({i, enters});
    }
  return roles;
}

core::NoMatch EventPairs::unmatched() const {
  core::NoMatch unmatched;
  const std::vector<std::string_view> known{names_.begin(), names_.end()};
  for (u32 i = 0; i < pairs_.size(); ++i) {
    if (!met_[i].enter) unmatched.add("--pair", side_text(pairs_[i].enter), known);
    if (!met_[i].exit) unmatched.add("--pair", side_text(pairs_[i].exit), known);
  }
  return unmatched;
}

}  // namespace coldtrace::trace_analysis

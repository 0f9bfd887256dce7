#pragma once

#include "coldtrace/where/where_vocabulary.hpp"

namespace coldtrace::tracefile {

// What an expression can ask of events: members of their lines, and fields.
class EventVocabulary final : public where::WhereVocabulary {
 public:
  core::Expected<where::NamedMember, std::string> find(
      std::string_view path, std::vector<std::string> parts) const override;
};

}  // namespace coldtrace::tracefile

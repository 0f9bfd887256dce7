#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "coldtrace/core/result.hpp"

namespace coldtrace::where {

// What a member can be compared as.
struct WhereMemberTypes {
  bool number = false, time = false, guid = false, text = false, boolean = false;
  bool since_start = false;  // times can be compared with durations too
  bool varied = false;       // the type depends on the value: all of these are true
};

// What a comparison looks at.
struct NamedMember {
  unsigned member = 0;            // by the vocabulary's own numbers
  std::vector<std::string> path;  // to something inside the member, if any
  WhereMemberTypes types;
};

// The members that an expression can name.
class WhereVocabulary {
 public:
  // `path` is the name as written, `parts` are its parts between dots, without quotes. The error
  // says what is wrong with the name.
  virtual core::Expected<NamedMember, std::string> find(std::string_view path,
                                                        std::vector<std::string> parts) const = 0;

  virtual ~WhereVocabulary() = default;

 protected:
  WhereVocabulary() = default;
  WhereVocabulary(const WhereVocabulary&) = default;
  WhereVocabulary& operator=(const WhereVocabulary&) = default;
  WhereVocabulary(WhereVocabulary&&) = default;
  WhereVocabulary& operator=(WhereVocabulary&&) = default;
};

}  // namespace coldtrace::where

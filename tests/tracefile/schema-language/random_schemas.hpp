#pragma once

#include <random>

#include "coldtrace/tracefile/schema-language/schema_language.hpp"

namespace coldtrace::test {

// Any schemas that the language can say, the same ones for the same seed.
class RandomSchemas {
 public:
  explicit RandomSchemas(u64 seed) : random_{seed} {}

  std::vector<tracefile::Schema> make();

 private:
  using FieldList = std::vector<tracefile::FieldDeclaration>;

  unsigned below(unsigned limit) { return static_cast<unsigned>(random_() % limit); }
  bool one_in(unsigned n) { return below(n) == 0; }
  std::string name(const char* prefix, std::size_t number);
  std::string text();
  tracefile::EnumDeclaration make_enum(std::size_t number);
  tracefile::FieldDeclaration make_field(const tracefile::Schema& schema, const FieldList& before,
                                         bool in_event);
  FieldList make_fields(const tracefile::Schema& schema, bool in_event);

  std::mt19937_64 random_;
  u16 next_id_ = 0;
};

}  // namespace coldtrace::test

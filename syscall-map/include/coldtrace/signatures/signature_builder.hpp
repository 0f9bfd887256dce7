#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "coldtrace/signatures/signature.hpp"

namespace coldtrace::syscall_map {

// Called by the grammar, token by token in text order: checks what a grammar cannot check and
// assembles the signatures. Tokens are views of the text, so that an error knows its place.
class SignatureBuilder {
 public:
  explicit SignatureBuilder(std::string_view text) : counted_{text.data()} {}
  explicit SignatureBuilder(std::string&&) = delete;  // the text outlives it

  // Ends the parse; caught where the parse began.
  struct Error {
    const char* where;
    std::string message;
  };

  void begin(std::string_view id);
  void set_function(std::string_view name);
  void set_machine(std::string_view name);
  void set_first_version(std::string_view version);
  void set_last_version(std::string_view version);
  void set_source(std::string_view quoted);
  void set_verified(std::string_view word);
  void add_anchor(Anchor::Kind kind, std::string_view name);
  void set_distance(std::string_view number);
  void set_anchor_name(std::string_view name);

  void begin_pattern(std::string_view word);
  void add_byte(std::string_view digits);
  void add_gap(std::string_view number);
  void set_longest(std::string_view number);
  void add_capture(std::string_view name);
  void set_type(std::string_view name);
  void add_reference(std::string_view name);
  void add_mark(std::string_view sign);
  void open_alternatives(std::string_view sign);
  void next_alternative(std::string_view sign);
  void close_alternatives(std::string_view sign);
  void end_pattern(std::string_view sign);

  void begin_constraint(std::string_view name);
  void set_operator(CaptureConstraint::Kind kind);
  void set_operand(std::string_view number);
  void set_last_operand(std::string_view number);

  void end(std::string_view sign);

  std::vector<Signature> take() { return std::move(signatures_); }

 private:
  Signature& current() { return signatures_.back(); }
  PatternElement& add(PatternElement::Kind kind, std::string_view at);
  u32 find_capture(std::string_view name);

  std::vector<Signature> signatures_;
  // Alternatives that are being read.
  struct Choice {
    std::string_view sign;                     // where they were opened
    std::vector<PatternSequence> read;         // those that are complete
    std::size_t seen = 0;                      // how many captures precede them
    std::optional<std::vector<u32>> captures;  // of the first; the others have the same
  };
  void end_alternative(std::string_view sign);

  std::vector<PatternSequence> open_;  // the sequences being read, outermost first
  std::vector<Choice> choices_;        // one less than open_
  std::vector<u32> seen_;              // captures that precede what is read, in their order
  u32 capture_ = 0;                    // the one being read
  bool new_capture_ = false;           // no other alternative has it
  std::string_view id_;
  const char* counted_;  // line_ is the line of this place
  u32 line_ = 1;
  std::string_view pattern_at_;
  std::size_t elements_ = 0;
  bool marked_ = false;
};

}  // namespace coldtrace::syscall_map

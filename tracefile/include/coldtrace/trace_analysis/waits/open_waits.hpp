#pragma once

#include <unordered_map>
#include <vector>

#include "coldtrace/trace_analysis/records/losses.hpp"
#include "coldtrace/trace_analysis/records/records.hpp"

namespace coldtrace::trace_analysis {

// Number of an object in the table of a WaitObjects.
using ObjectIndex = u32;
constexpr ObjectIndex no_object = 0xffff'ffff;

// Every object that a thread waited for. An address with another type is another object, and so is
// a thread object whose address was given to a new thread.
class WaitObjects {
 public:
  struct Object {
    WaitedObject waited;
    Index thread = nobody;    // whose thread object it is
    std::optional<u8> calls;  // of a semaphore: WrLpcReceive or WrLpcReply, if waits state it
  };
  static constexpr std::size_t most = std::size_t{1} << 18;

  // no_object if there are too many.
  ObjectIndex of(const WaitedObject& waited);
  void names_thread(u64 address, Index thread);
  void waited_with(ObjectIndex object, std::optional<u8> reason);

  [[nodiscard]] const std::vector<Object>& all() const { return objects_; }
  [[nodiscard]] u64 left_out() const { return left_out_; }  // mentions of objects beyond the limit

 private:
  struct Hash {
    std::size_t operator()(const WaitedObject& one) const {
      return std::hash<u64>{}(one.address * 16 + static_cast<u64>(one.kind));
    }
  };
  struct Same {
    bool operator()(const WaitedObject& a, const WaitedObject& b) const {
      return a.address == b.address && a.kind == b.kind;
    }
  };

  std::unordered_map<WaitedObject, ObjectIndex, Hash, Same> ids_;
  std::unordered_map<u64, Index> threads_;  // by the address of their object
  std::vector<Object> objects_;
  u64 left_out_ = 0;
};

// Which threads wait, and for what. A wait is open from its WaitBegin until it is satisfied or
// ends. If the event of its end is missing, it ends when its thread begins another one.
// Sources: docs/commands/trace-analysis.md, "Waits".
class OpenWaits {
 public:
  struct Wait {
    ObjectIndex object;
    Moment since;
    std::optional<u8> reason;
  };
  // A thread that waits. Without objects: it waits for time to pass.
  struct Waiting {
    Moment since;
    std::vector<Wait> waits;
    WaitNeeds needs = WaitNeeds::not_known;
    bool left_processor = false;  // it waits: a switch took it off its processor for that
    bool came_back = false;       // it ran since, and its wait may be over
    bool partly = false;          // one of several objects has satisfied it
  };
  enum class How : u8 { taken, not_taken, not_seen };
  struct Ended {
    Index thread;
    ObjectIndex object;
    Moment since;
    Moment end;
    How how;
    std::optional<u32> status;
    Index by;  // who ran when the end was logged
    bool begin_seen;
    bool left_processor;
  };

  // What each of these returns is valid until the next call.
  std::span<const Ended> begin(const WaitBegin& record, const Population& population);
  std::span<const Ended> end(const WaitEnd& record);
  std::span<const Ended> thread(const ThreadRecord& record, const Population& population);
  void switched(const ContextSwitch& record);

  // Null if it does not wait.
  [[nodiscard]] const Waiting* find(Index thread) const;
  [[nodiscard]] std::size_t threads() const { return waiting_.size(); }  // those beyond do not wait
  [[nodiscard]] const WaitObjects& objects() const { return objects_; }
  WaitObjects& objects() { return objects_; }

 private:
  bool joins(const Waiting& waiting, const WaitBegin& record);
  void end_all(Index thread, const Waiting& waiting, const Moment& end, How how,
               std::optional<u32> status, Index by);
  void end_together(const WaitEnd& record, const Waiting& waiting);
  Waiting* waiting_of(Index thread);

  WaitObjects objects_;
  std::vector<std::optional<Waiting>> waiting_;  // by thread
  std::vector<Ended> ended_;
};

// Who took each mutant last. Nothing logs a release, so an owner is an upper bound; it is certainly
// the owner as long as somebody else waits in vain.
class MutantOwners {
 public:
  struct Owner {
    Index thread = nobody;  // the last one that was seen to take it
    Moment since;
    std::vector<Index> perhaps;  // whose wait for it ended unseen: they may have taken it after
    bool too_many = false;       // of those
  };

  // Whether an object of the kind has an owner.
  [[nodiscard]] static bool can_own(ObjectKind kind) { return kind == ObjectKind::mutant; }

  // A wait for an object that can have an owner, by can_own(); a wait for another one changes
  // nothing.
  void ended(const OpenWaits::Ended& wait, ObjectKind kind);

  // Null if nobody is known to own it: its owner ended, or events are missing since.
  [[nodiscard]] const Owner* find(ObjectIndex object, const Population& population,
                                  const Losses& losses, i64 now) const;

 private:
  std::unordered_map<ObjectIndex, Owner> owners_;
};

}  // namespace coldtrace::trace_analysis

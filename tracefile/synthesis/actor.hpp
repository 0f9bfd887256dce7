#pragma once

#include "tracefile/synthesis/machine.hpp"

namespace coldtrace::tracefile::synthesis {

// A thread, as its program sees itself. What is awaited takes time; the rest happens at once.
class Actor {
 public:
  using Body = std::function<Program(Actor)>;

  // What is awaited: the machine goes on with the thread when it is done.
  class [[nodiscard]] Pause {
   public:
    explicit Pause(Thread& thread) : thread_{&thread} {}
    bool await_ready() const noexcept { return false; }
    void await_suspend(std::coroutine_handle<> here) const noexcept { thread_->resume_at = here; }
    u32 await_resume() const noexcept { return thread_->wait_status; }  // of a wait

   private:
    Thread* thread_;
  };

  Actor(Machine& machine, Thread& thread) : machine_{&machine}, thread_{&thread} {}

  // --- time
  Pause compute(Duration duration) const;
  Pause compute(Duration least, Duration most) const;  // a random time between
  Pause yield() const;
  Pause sleep(Duration duration) const;
  Pause sleep_until(Duration since_start) const;

  // --- waits; their result is the status
  Pause wait(DispatcherObject& object, u8 reason = wait_reason::user_request) const;
  Pause wait_within(DispatcherObject& object, Duration timeout) const;
  template <class... Objects>
  Pause wait_any(Objects&... objects) const {
    return wait({{&objects...}, WaitType::any, wait_reason::user_request, {}, 0});
  }
  template <class... Objects>
  Pause wait_all(Objects&... objects) const {
    return wait({{&objects...}, WaitType::all, wait_reason::user_request, {}, 0});
  }

  void release(DispatcherObject& object, i64 count = 1) const;
  void set(DispatcherObject& event) const;
  void set_timer(DispatcherObject& timer, Duration due) const { machine_->set_timer(timer, due); }

  // --- processes and threads
  Thread& start_thread(const Body& body, const ThreadOptions& options = {}) const;
  // Its first thread runs `body`.
  Thread& start_process(const ProcessOptions& process, const Body& body,
                        const ThreadOptions& options = {}) const;
  void exit_with(u32 status) const { thread_->exit_status = status; }

  // --- calls of services
  void enter(const Service& service, std::initializer_list<u64> arguments = {}) const;
  void leave(const Service& service, u64 status = 0) const;

  // --- the disk; `done` is signaled when the request is complete
  void read(DispatcherObject& done, u64 offset, u32 bytes) const;
  void write(DispatcherObject& done, u64 offset, u32 bytes) const;

  void fault(const PageFault& fault) const;
  void send(const Message& message) const;

  Machine& machine() const { return *machine_; }
  Thread& thread() const { return *thread_; }
  u64 random(u64 below) const { return machine_->random(below); }

 private:
  Pause wait(Wait wait) const;

  Machine* machine_;
  Thread* thread_;
};

// A thread that is there when the trace begins.
Thread& add_thread(Machine& machine, Process& process, const Actor::Body& body,
                   const ThreadOptions& options = {});

}  // namespace coldtrace::tracefile::synthesis

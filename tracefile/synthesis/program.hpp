#pragma once

#include <coroutine>
#include <utility>

namespace coldtrace::tracefile::synthesis {

// What a thread does: a coroutine that suspends where time passes for the thread. A program can
// await another one, as one function calls another.
class [[nodiscard]] Program {
 public:
  struct promise_type;
  using Handle = std::coroutine_handle<promise_type>;

  struct ToCaller {
    bool await_ready() const noexcept { return false; }
    std::coroutine_handle<> await_suspend(Handle ended) const noexcept;
    void await_resume() const noexcept {}
  };
  struct promise_type {
    std::coroutine_handle<> caller = std::noop_coroutine();

    Program get_return_object() { return Program{Handle::from_promise(*this)}; }
    std::suspend_always initial_suspend() const noexcept { return {}; }
    ToCaller final_suspend() const noexcept { return {}; }
    void return_void() const noexcept {}
    void unhandled_exception() const { throw; }  // that memory ran out, to whoever resumed it
  };

  Program() = default;
  Program(Program&& other) noexcept : handle_{std::exchange(other.handle_, nullptr)} {}
  Program& operator=(Program&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  ~Program() {
    if (handle_) handle_.destroy();
  }

  std::coroutine_handle<> start() const { return handle_; }
  bool done() const { return handle_.done(); }

  bool await_ready() const noexcept { return false; }
  std::coroutine_handle<> await_suspend(std::coroutine_handle<> caller) const noexcept {
    handle_.promise().caller = caller;
    return handle_;
  }
  void await_resume() const noexcept {}

 private:
  explicit Program(Handle handle) : handle_{handle} {}

  Handle handle_;
};

inline std::coroutine_handle<> Program::ToCaller::await_suspend(Handle ended) const noexcept {
  return ended.promise().caller;
}

}  // namespace coldtrace::tracefile::synthesis

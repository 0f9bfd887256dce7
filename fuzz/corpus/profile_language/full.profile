# Everything that the language has.
group files {
  Nt*File
  nt!NtQuery*  -NtQueryTimer
  "include" win32k!"?Draw@@YAXXZ"
  -@quiet
}
group quiet { NtClose ZwFlush?* }
include "common.profile"
@files
-@quiet
win32kfull.sys!*
NtClose
-"group"

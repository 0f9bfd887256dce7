# Signatures that coldtrace has built in; docs/languages/signatures.md describes the language. "verified" is
# what was seen in a real file; the rest is published by others or follows from what they published.
#
# The context switch saves the stack pointer of the old thread (edi) and loads that of the new one
# (esi) at the same offset of KTHREAD: 89 67 KK, then 8B 66 KK at most 0x60 bytes behind it.

signature swap-context-nt4-2000-x86 of SwapContext {
  machine x86;
  version 4.0 to 5.0;
  source "published driver source: the patched bytes lie at SwapContext+2", unverified;
  anchor called from KiDispatchInterrupt within 0x200;
  bytes @ ?? ?? 26 C6 46 2D 02 [0 to 256] 89 67 <KernelStack:u8> [0 to 93] 8B 66 =KernelStack;
}

signature swap-context-xp-up-x86 of SwapContext {
  machine x86;
  version 5.1;
  source "ntoskrnl.exe 5.1.2600.5512 and .5657, uniprocessor", verified;
  bytes 0A C9 26 C6 46 2D 02 9C 8B 0B 83 BB ?? ?? 00 00 00 51
        [0 to 128] 89 67 <KernelStack:u8> [0 to 93] 8B 66 =KernelStack;
  where KernelStack == 0x28;
}

signature swap-context-xp-mp-x86 of SwapContext {
  machine x86;
  version 5.1;
  source "ntkrnlmp.exe 5.1.2600.5512, multiprocessor", verified;
  bytes 0A C9 26 C6 46 2D 02 9C 8D 8B 40 05 00 00 E8 <Acquire:rel32>
        [0 to 256] 89 67 <KernelStack:u8> [0 to 93] 8B 66 =KernelStack;
  where KernelStack == 0x28;
}

signature swap-context-2003-mp-x86 of SwapContext {
  machine x86;
  version 5.2;
  source "5.2.3800, multiprocessor, built from the Windows Research Kernel", verified;
  bytes 51 80 7E 5D 00 74 04 F3 90 EB F6 26 FF 43 10 FF 33 83 7B 08 00 0F 85
        [0 to 256] 89 67 <KernelStack:u8> [0 to 93] 8B 66 =KernelStack;
  where KernelStack == 0x20;
}

# The multiprocessor kernel has these bytes too, in the middle of the function, where nobody calls.
signature swap-context-2003-up-x86 of SwapContext {
  machine x86;
  version 5.2;
  source "published driver source; source of the Windows Research Kernel", unverified;
  anchor called from KiDispatchInterrupt within 0x200;
  bytes 26 FF 43 10 FF 33 83 7B 08 00
        [0 to 256] 89 67 <KernelStack:u8> [0 to 93] 8B 66 =KernelStack;
  where KernelStack == 0x20;
}

# Under Hyper-V Windows 7 writes a short jump, EB F9, over the first two bytes; images dumped from
# memory have it.
signature swap-context-7-x86 of SwapContext {
  machine x86;
  version 6.1;
  source "ntoskrnl.exe and ntkrnlpa.exe 6.1.7601.17514 to .24545, uniprocessor", verified;
  bytes ( 80 7E | EB F9 ) 39 00 74 04 F3 90 EB F6 C6 46 39 01 51 FA
        [0 to 256] 89 67 <KernelStack:u8> [0 to 93] 8B 66 =KernelStack;
  where KernelStack == 0x30;
}

signature swap-context-2003-x64 of SwapContext {
  machine x64;
  version 5.2;
  source "source of the Windows Research Kernel, KSWITCH_FRAME", unverified;
  anchor function;
  bytes 48 83 EC 38 48 89 6C 24 30 88 4C 24 28;
}

signature swap-context-7-x64 of SwapContext {
  machine x64;
  version 6.1;
  source "derived from a public hook whose resume offsets agree", unverified;
  anchor function;
  bytes 48 83 EC 38 48 89 6C 24 30 0F 0D 4E 49 88 4C 24 28 80 7E 49 00 0F 85 <Busy:rel32>
        C6 46 49 01 FA 0F 31 48 C1 E2 20 48 0B C2;
}

# Running is at 0x71 and KernelStack at 0x58 in every published layout of these versions.
signature swap-context-8-11-x64 of SwapContext {
  machine x64;
  version 6.2 to 10.0;
  source "predicted from the code of Windows 7 and published type layouts", unverified;
  anchor function;
  bytes 48 83 EC 38 48 89 6C 24 30 [0 to 64] 80 7E 71 00 [0 to 256]
        48 89 67 <KernelStack:u8> [0 to 512] 48 8B 66 =KernelStack;
  where KernelStack == 0x58;
}

# A second, complete context switch for Hyper-V, reached through the self-patch only.
signature enlightened-swap-context-7-x86 of EnlightenedSwapContext {
  machine x86;
  version 6.1;
  source "ntoskrnl.exe 6.1.7601.17514, uniprocessor", verified;
  bytes 33 C0 80 7E 39 00 74 20 40 85 05;
}

signature ki-swap-context-xp-x86 of KiSwapContext {
  machine x86;
  version 5.1;
  source "ntoskrnl.exe 5.1.2600.5512, uniprocessor", verified;
  bytes 83 EC 10 89 5C 24 0C 89 74 24 08 89 7C 24 04 89 2C 24 [0 to 64] E8 <SwapContext:rel32>
        8B 2C 24 8B 7C 24 04 8B 74 24 08 8B 5C 24 0C 83 C4 10 C3;
}

# The first six instructions were seen in all of these kernels.
signature ki-swap-context-2003-7-x86 of KiSwapContext {
  machine x86;
  version 5.2 to 6.1;
  source "prologue of 10 kernels of 2003 and 7; what follows as in XP", unverified;
  bytes 83 EC 10 89 5C 24 0C 89 74 24 08 89 7C 24 04 89 2C 24 [0 to 96] E8 <SwapContext:rel32>
        8B 2C 24;
}

# Enters SwapContext behind its first instructions: a hook of the entry does not see these switches.
signature ki-idle-loop-xp-x86 of KiIdleLoop {
  machine x86;
  version 5.1;
  source "ntoskrnl.exe 5.1.2600.5512, uniprocessor", verified;
  bytes 8D AB 80 09 00 00 EB 08 8D 8B 50 0C 00 00 FF 11 FB 90 90 FA 3B 6D 00 74
        [0 to 96] 26 C6 46 2D 02 C7 83 28 01 00 00 00 00 00 00 68 <ReturnAddress:u32> 9C
        E9 <SwapContextBody:rel32>;
}

signature ki-dispatch-interrupt-xp-x86 of KiDispatchInterrupt {
  machine x86;
  version 5.1;
  source "ntoskrnl.exe 5.1.2600.5512, uniprocessor", verified;
  bytes 8B 1D 1C F0 DF FF 8D 83 80 09 00 00 FA 3B 00 74
        [0 to 160] B1 01 E8 <SwapContext:rel32> 8B 2C 24;
}

signature zw-stubs-x86 of ZwStubRun {
  machine x86;
  version 5.1 to 6.1;
  source "12 kernels of XP, 2003 and 7; Vista is taken to be alike", verified;
  bytes B8 00 00 00 00 8D 54 24 04 9C 6A 08 E8 <KiSystemService:rel32> C2 ?? 00
        B8 01 00 00 00 8D 54 24 04 9C 6A 08 E8 =KiSystemService;
}

signature zw-stubs-x64 of ZwStubRun {
  machine x64;
  version 6.0 to 10.0;
  source "published disassembly of a kernel of about Windows 10 2004", unverified;
  bytes 48 8B C4 FA 48 83 EC 10 50 9C 6A 10 48 8D 05 <KiServiceLinkage:rel32> 50
        B8 00 00 00 00 E9 <KiServiceInternal:rel32>;
}

signature ki-fast-call-entry-xp-x86 of KiFastCallEntry {
  machine x86;
  version 5.1;
  source "ntoskrnl.exe 5.1.2600.5512, uniprocessor", verified;
  bytes B9 23 00 00 00 6A 30 0F A1 8E D9 8E C1 8B 0D 40 F0 DF FF 8B 61 04 6A 23 52 9C;
}

signature ki-fast-call-entry-2000-x86 of KiFastCallEntry {
  machine x86;
  version 5.0;
  source "debugger listing of Windows 2000 at advdbg.org, forum post 2312", unverified;
  bytes 36 8B 25 40 F0 DF FF 8B 64 24 04 6A 23 52 83 2C 24 04 9C 81 0C 24 00 02 00 00 6A 1B 51;
}

# Multiprocessor kernels, the only ones from Windows 8 on, reach the processor's own data through fs.
signature ki-fast-call-entry-x86 of KiFastCallEntry {
  machine x86;
  version 5.1 to 10.0;
  source "published debugger listings of XP, 7 and 10; Windows Internals, 7th edition, part 2",
         unverified;
  bytes B9 23 00 00 00 6A 30 0F A1 8E D9 8E C1 64 8B 0D 40 00 00 00;
}

# Its beginning is that of another entry too: 111 bytes tell them apart.
signature ki-system-service-xp-x86 of KiSystemService {
  machine x86;
  version 5.1;
  source "ntoskrnl.exe 5.1.2600.5512, uniprocessor, by hooks derive", verified;
  bytes 6A 00 55 53 56 57 0F A0 BB 30 00 00 00 8E E3 FF 35 00 F0 DF FF C7 05 00 F0 DF FF FF
        FF FF FF 8B 35 24 F1 DF FF [56] 89 5D 00 89 7D 04 F6 46 2C FF 0F 85 ?? ?? ?? ?? FB E9;
}

# KiSystemCall32 begins alike, and pushes another code selector than 33.
signature ki-system-call-64-x64 of KiSystemCall64 {
  machine x64;
  version 6.1 to 10.0;
  source "published debugger listings of 7 and 10; Windows Internals, 7th edition, part 2",
         unverified;
  bytes 0F 01 F8 65 48 89 24 25 10 00 00 00 65 48 8B 24 25 A8 01 00 00 6A 2B
        65 FF 34 25 10 00 00 00 41 53 6A 33 51;
}

// Shared libraries, as each system loads them.
#pragma once

#if defined(_WIN32)
#include <windows.h>
#else
#include <dlfcn.h>
#endif

#if defined(_WIN32)
inline void* Open(const char* path) { return LoadLibraryA(path); }
inline bool IsOpen(const char* path) { return GetModuleHandleA(path) != nullptr; }
inline void Close(void* library) { FreeLibrary(static_cast<HMODULE>(library)); }
inline void* Find(void* library, const char* name) {
  return reinterpret_cast<void*>(GetProcAddress(static_cast<HMODULE>(library), name));
}
#else
inline void* Open(const char* path) { return dlopen(path, RTLD_NOW | RTLD_LOCAL); }
inline bool IsOpen(const char* path) { return dlopen(path, RTLD_NOW | RTLD_NOLOAD) != nullptr; }
inline void Close(void* library) { dlclose(library); }
inline void* Find(void* library, const char* name) { return dlsym(library, name); }
#endif

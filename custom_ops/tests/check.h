// CHECK(condition) << message: counts failures and prints them; Failures() is main's result.
#pragma once

#include <iostream>
#include <sstream>

inline int& Failures() {
  static int failures = 0;
  return failures;
}

class Complaint {
 public:
  Complaint(const char* file, int line, const char* condition) {
    text_ << file << ":" << line << ": " << condition << " ";
  }
  ~Complaint() {
    if (++Failures() <= 20) std::cerr << text_.str() << "\n";
  }
  template <class T>
  Complaint& operator<<(const T& value) {
    text_ << value;
    return *this;
  }

 private:
  std::ostringstream text_;
};

#define CHECK(condition) \
  if (condition) {       \
  } else                 \
    Complaint(__FILE__, __LINE__, #condition)

#include <stdio.h>

int handle_error(const char *error) {
  return printf("handled error: %s\nerrors: 0\n", error);
}

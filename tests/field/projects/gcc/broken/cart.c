#include "shop.h"

int total(void) {
  int count = 0;
  return price + taxes(count);
}

int first(int *error_codes) {
  return error_codes.first;
}

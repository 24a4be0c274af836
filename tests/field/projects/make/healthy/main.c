int handle_error(const char *error);

int main(void) {
  int unused;
  return handle_error("fatal error") < 0;
}

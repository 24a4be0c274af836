int total(void);
extern int taxes;

int main(void) {
  return total() + taxes;
}

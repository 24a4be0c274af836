class ErrorHandler {
    void handle() {
        throw new CartError("no price");
    }
}

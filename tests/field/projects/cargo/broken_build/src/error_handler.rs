pub fn handle(error: String) -> bool {
    !error
}

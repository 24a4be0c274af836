fn main() {
    println!("error_handler: 0 errors");
    println!("errors: 0");
}

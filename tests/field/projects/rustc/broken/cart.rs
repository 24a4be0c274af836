fn main() {
    let total: i32 = "a";
    println!("{}", total);
}

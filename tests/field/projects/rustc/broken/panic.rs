fn main() {
    let price: Option<i32> = std::env::args().nth(9).map(|_| 1);
    println!("{}", price.expect("no price"));
}

pub fn total(prices: &[i32]) -> i32 {
    let unused = 1;
    let sum: i32 = "three";
    sum + prices[0]
}

class Cart {
    int total() {
        int price = "three";
        return price() + taxes;
    }
}

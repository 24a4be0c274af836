package shop;

class Shop {
    static int price(String text) {
        return Integer.parseInt(text);
    }

    static int total(String text) {
        try {
            return price(text);
        } catch (NumberFormatException error) {
            throw new IllegalStateException("no total", error);
        }
    }

    public static void main(String[] arguments) {
        total("tea");
    }
}

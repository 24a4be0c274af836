import java.util.concurrent.ExecutionException;

class ErrorHandler {
    static String handle(Exception error) {
        return "handled: " + error.getClass().getSimpleName();
    }

    public static void main(String[] arguments) {
        System.out.println(handle(new ExecutionException("failed", null)));
        System.out.println("0 errors");
        System.out.println("errors: 0");
    }
}

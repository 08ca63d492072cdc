// What read.py does, by HdrHistogram's own reader in Java: `java -cp … Read.java RESULTS`.

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.HdrHistogram.Histogram;
import org.HdrHistogram.HistogramLogReader;
import org.json.JSONObject;

public final class Read {
    public static void main(String[] arguments) throws Exception {
        List<Path> logs;
        try (Stream<Path> trials = Files.list(Path.of(arguments[0], "trials"))) {
            logs = trials.map(trial -> trial.resolve("latency.hlog")).filter(Files::exists).sorted().toList();
        }
        int checked = 0;
        for (Path log : logs) {
            checked += check(log);
        }
        require(checked > 0, "there are no operations");
        System.out.println("hlog: Java read " + checked + " histograms");
    }

    private static int check(Path log) throws Exception {
        Map<String, Histogram> read = histograms(log);
        var operations =
                new JSONObject(Files.readString(log.resolveSibling("result.json"))).getJSONArray("operations");
        for (int nth = 0; nth < operations.length(); nth++) {
            JSONObject operation = operations.getJSONObject(nth);
            String kind = operation.getString("kind");
            Histogram histogram = read.remove(kind);
            require(histogram != null, log + ": there is no " + kind);
            long count = histogram.getTotalCount();
            require(count == operation.getLong("operations"), log + ": " + kind + ": " + count);
            JSONObject latency = operation.getJSONObject("latency");
            near(log, histogram.getMean(), latency, "mean_ns");
            near(log, histogram.getMaxValue(), latency, "max_ns");
        }
        require(read.isEmpty(), log + ": " + read.keySet() + " are no operations of the result");
        return operations.length();
    }

    /** By tag. */
    private static Map<String, Histogram> histograms(Path log) throws Exception {
        Map<String, Histogram> read = new HashMap<>();
        try (HistogramLogReader reader = new HistogramLogReader(log.toFile())) {
            while (reader.hasNext()) {
                if (reader.nextIntervalHistogram() instanceof Histogram histogram) {
                    read.put(histogram.getTag(), histogram);
                }
            }
        }
        return read;
    }

    /** To the three digits that both have; means are whole numbers in results. */
    private static void near(Path log, double value, JSONObject latency, String name) {
        double told = latency.getDouble(name);
        boolean isNear = Math.abs(value - told) <= Math.max(value, told) / 500 + 1;
        require(isNear, log + ": " + name + ": " + value + ", " + told);
    }

    private static void require(boolean isSo, String what) {
        if (!isSo) {
            throw new IllegalStateException(what);
        }
    }
}

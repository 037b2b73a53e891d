// Prints each message of three topics as a line: topic, partition, key in hex or "-", value in base64. Never ends.
import java.time.Duration;
import java.util.Base64;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;

class Reader {
  public static void main(String[] args) {
    Map<String, Object> settings = Map.of(
        "bootstrap.servers", args[0],
        "group.id", "reader",
        "auto.offset.reset", "earliest",
        "metadata.max.age.ms", 500);
    var bytes = new ByteArrayDeserializer();
    try (var consumer = new KafkaConsumer<byte[], byte[]>(settings, bytes, bytes)) {
      consumer.subscribe(List.of("otlp_spans", "otlp_logs", "otlp_metrics"));
      while (true) {
        for (ConsumerRecord<byte[], byte[]> each : consumer.poll(Duration.ofMillis(100))) {
          String key = each.key() == null ? "-" : HexFormat.of().formatHex(each.key());
          String value = Base64.getEncoder().encodeToString(each.value());
          System.out.println(each.topic() + " " + each.partition() + " " + key + " " + value);
        }
        System.out.flush();
      }
    }
  }
}

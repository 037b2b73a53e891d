# Builds Sluice in one stage and runs it in another without compilers and tests. It runs as an ordinary user and writes only
# below /var/lib/sluice, so the root file system can be read-only:
#   docker run --read-only --tmpfs /tmp -v sluice:/var/lib/sluice -p 4317:4317 -p 4318:4318 sluice
FROM node:22-bookworm-slim AS build
WORKDIR /src
COPY package.json package-lock.json ./
RUN npm ci
COPY tsconfig.json tsconfig.product.json ./
COPY scripts scripts
COPY src src
RUN node scripts/build.js --product && npm prune --omit=dev

FROM node:22-bookworm-slim
ENV NODE_ENV=production
WORKDIR /opt/sluice
COPY --from=build /src/node_modules node_modules
COPY --from=build /src/dist/src dist/src
COPY --from=build /src/dist/web dist/web
COPY package.json README.md LICENSE CHANGELOG.md ./
COPY bin bin
COPY config config
# ./data of the default configuration is in the working directory. The configuration file is in the package.
RUN install -d -o node -g node -m 0700 /var/lib/sluice
WORKDIR /var/lib/sluice
VOLUME /var/lib/sluice
# The user `node`, by number: Kubernetes cannot check a name for runAsNonRoot.
USER 1000
EXPOSE 4317 4318 4319 8888 13133
HEALTHCHECK --interval=15s --timeout=5s --start-period=60s \
  CMD ["node", "-e", "fetch('http://127.0.0.1:4318/health').then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
# The container publishes ports by its own rules, so the receiver listens on all addresses, and the console,
# readiness and metrics do. A login link for the console: docker exec CONTAINER node /opt/sluice/bin/sluice.js console
ENTRYPOINT ["node", "/opt/sluice/bin/sluice.js"]
CMD ["run", "--set", "receivers.otlp.protocols.http.endpoint=0.0.0.0:4318", \
  "--set", "receivers.otlp.protocols.grpc.endpoint=0.0.0.0:4317", \
  "--set", "extensions.health_check.endpoint=0.0.0.0:13133", \
  "--set", "extensions.console.endpoint=0.0.0.0:4319", \
  "--set", "service.telemetry.metrics.endpoint=0.0.0.0:8888"]

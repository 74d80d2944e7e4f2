# The image of TWS: the package with its runtime dependencies, run by an unprivileged user.
# A project is mounted at /project, or copied there by an image of its own (docs/operations/containers.md).

FROM node:22-bookworm-slim AS build
WORKDIR /build
COPY package.json package-lock.json ./
RUN npm ci --no-audit --no-fund
COPY . .
# Builds the code and the documentation first (`prepack`).
RUN npm pack --pack-destination /tmp
RUN npm install --prefix /opt/tws --omit=dev --no-audit --no-fund /tmp/tws-*.tgz

FROM node:22-bookworm-slim
ENV NODE_ENV=production PATH=/opt/tws/node_modules/.bin:$PATH
COPY --from=build /opt/tws /opt/tws
WORKDIR /project
RUN chown node:node /project
USER node
EXPOSE 5985
# Also right for `serve`; an engine that drains is alive, and not ready.
HEALTHCHECK --interval=10s --timeout=5s --start-period=20s --retries=3 \
  CMD ["node", "-e", "fetch('http://127.0.0.1:5985/_tws/health/live').then((answer) => process.exit(answer.ok ? 0 : 1), () => process.exit(1))"]
STOPSIGNAL SIGTERM
ENTRYPOINT ["tws"]
CMD ["start", "--http", "0.0.0.0:5985"]

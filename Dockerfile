# The service on a slim image of Node 22 without development packages. One port, one volume, no root. `verdict` is on the PATH.
# A release pins the base image by its digest; `npm run release:check` verifies that.
#
#   docker build -t verdict --build-arg VERSION=$(node -p 'require("./package.json").version') .
#   docker run -e API_KEY=<16 or more characters> -p 127.0.0.1:7766:7766 -v verdict:/data verdict

FROM node:22-slim AS built
WORKDIR /app
COPY package.json package-lock.json tsconfig.json ./
COPY bin ./bin
COPY console ./console
COPY packaging ./packaging
COPY src ./src
COPY workers ./workers
# The built form and its packages, without the second Node and without the binaries of the HTTP library for other platforms.
RUN npm ci --no-audit --no-fund \
  && npm prune --omit=dev --no-audit --no-fund --workspaces=false \
  && rm -r node_modules/node node_modules/.bin/node \
  && binary="$(node -p '`uws_${process.platform}_${process.arch}_${process.versions.modules}.node`')" \
  && find node_modules/uWebSockets.js/dist/bin -name '*.node' ! -name "$binary" -delete

FROM node:22-slim
ARG VERSION=unreleased
LABEL org.opencontainers.image.title="Verdict" \
  org.opencontainers.image.description="Self-hosted authorization: may this user do this on that resource?" \
  org.opencontainers.image.licenses="Apache-2.0" \
  org.opencontainers.image.version="$VERSION"
ENV NODE_ENV=production HOST=0.0.0.0 PORT=7766 STORE_URL=lmdb:/data DATA_DIR=/data
WORKDIR /app
COPY --from=built /app/node_modules ./node_modules
COPY --from=built /app/dist ./dist
COPY bin ./bin
COPY package.json LICENSE NOTICE ./
RUN mkdir /data && chown 1000:1000 /data && ln -s /app/bin/verdict.js /usr/local/bin/verdict
# A number, so that a cluster can verify that the user is not root.
USER 1000:1000
VOLUME /data
EXPOSE 7766
# Checks only that the process runs, because a restart does not repair Redis. Load balancers check /ready.
HEALTHCHECK --interval=5s --timeout=3s --start-period=60s --retries=3 \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT}/healthy`).then(r => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
CMD ["node", "--disable-warning=ExperimentalWarning", "dist/start.js"]

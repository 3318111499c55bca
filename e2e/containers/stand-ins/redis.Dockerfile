# Stands in for docker.io/library/redis where no image registry can be reached.
ARG DEBIAN
FROM ${DEBIAN}
RUN apt-get update && apt-get install -y --no-install-recommends redis-server && rm -rf /var/lib/apt/lists/*
USER redis
CMD ["redis-server"]
